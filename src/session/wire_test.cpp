// SPDX-License-Identifier: Apache-2.0
// Values of sessions on the wire, and what a request may look like.
#include <gtest/gtest.h>

#include "harn/session.h"

namespace harn {
namespace {

using namespace std::chrono_literals;

TEST(SessionWire, NetworkPolicyHasItsTaggedShape) {
  EXPECT_EQ(to_json(NetworkPolicy{.allowed_hosts = {"api.github.com"}}), R"({"mode": "limited", "allowed_hosts": ["api.github.com"]})");
  EXPECT_EQ(to_json(NetworkPolicy{.unrestricted = true}), R"({"mode": "unrestricted"})");
  EXPECT_EQ(to_json(NetworkPolicy{}), R"({"mode": "limited", "allowed_hosts": []})");
  EXPECT_EQ(network_policy_from_json(R"({"mode":"limited"})"), NetworkPolicy{});
  EXPECT_EQ(network_policy_from_json(R"({"mode":"open"})").error().kind, SandboxErrorKind::json);
  EXPECT_EQ(network_policy_from_json(R"({})").error().kind, SandboxErrorKind::json);
  EXPECT_EQ(network_policy_from_json(R"({"mode":"unrestricted","allowed_hosts":["x"]})").error().kind, SandboxErrorKind::json);
}

TEST(SessionWire, EverythingRoundTrips) {
  const SandboxSpec spec{.session_id = SandboxSessionId{"build-7"},
                         .labels = {{"tenant", "a"}},
                         .network_policy = {.unrestricted = true},
                         .mounts = {{.source = "/data", .target = "/mnt/data", .access = FilesystemAccess::read_write}},
                         .limits = {.wall_time = 1500ms, .cpu_count = 2, .memory_mb = 512, .idle_timeout = 60s}};
  EXPECT_EQ(sandbox_spec_from_json(to_json(spec)), spec);
  EXPECT_NE(to_json(spec).find(R"("wall_time": {"secs": 1, "nanos": 500000000})"), std::string::npos);
  const SandboxSession session{.id = {"build-7"},
                               .backend = "local",
                               .state = SandboxState::suspended,
                               .mounts = {{.target = "/mnt/memory", .access = FilesystemAccess::read_only, .host_path = "/m"}},
                               .metadata = {{"root", "/r"}}};
  EXPECT_EQ(sandbox_session_from_json(to_json(session)), session);
  const ExecRequest request{.command = "sh", .args = {"-c", "true"}, .cwd = "sub", .env = {{"A", "b"}}, .input = "x", .timeout = 2s};
  EXPECT_EQ(exec_request_from_json(to_json(request)), request);
  const ExecResult result{.out = "o", .err = "e", .exit_code = -9, .timed_out = true};
  EXPECT_EQ(exec_result_from_json(to_json(result)), result);
  EXPECT_FALSE(result.success());
  EXPECT_TRUE((ExecResult{}).success());
  const SandboxSnapshot snapshot{.session_id = {"s"}, .backend = "local", .snapshot_id = "snap", .metadata = {{"bytes", "1"}}};
  EXPECT_EQ(sandbox_snapshot_from_json(to_json(snapshot)), snapshot);
  const SandboxCapabilities able{.local_process_sandbox = true, .snapshot = true, .resume = true};
  EXPECT_EQ(sandbox_capabilities_from_json(to_json(able)), able);
}

TEST(SessionWire, MissingMembersHaveDefaultsAndMistakesAreNamed) {
  EXPECT_EQ(sandbox_spec_from_json("{}"), SandboxSpec{});
  EXPECT_EQ(exec_request_from_json(R"({"command":"true"})"), (ExecRequest{.command = "true"}));
  for (const auto* text : {R"({"label":{}})", R"({"labels":[]})", R"({"mounts":{}})", R"({"limits":{"memory_mb":-1}})",
                           R"({"limits":{"wall_time":5}})", R"({"mounts":[{"source":"/a"}]})", "[]", "nonsense"})
    EXPECT_EQ(sandbox_spec_from_json(text).error().kind, SandboxErrorKind::json) << text;
  EXPECT_EQ(sandbox_spec_from_json(R"({"session_id":"  "})").error().kind, SandboxErrorKind::invalid_request);
  EXPECT_EQ(exec_request_from_json("{}").error().kind, SandboxErrorKind::json);
}

TEST(SessionWire, TargetsAreNormalised) {
  EXPECT_EQ(normalized_mount_target(" /mnt/data// "), "/mnt/data");
  for (const auto* target : {"data", "", "/", "  ", "./x", "/mnt/memory/../../etc/passwd"})
    EXPECT_EQ(normalized_mount_target(target).error().kind, SandboxErrorKind::invalid_request) << target;
  EXPECT_NE(describe(normalized_mount_target("/mnt/memory/../../etc/passwd").error()).find("must not contain a `..` component"),
            std::string::npos);
}

TEST(SessionWire, EveryErrorHasItsSentence) {
  EXPECT_EQ(describe(SandboxError{.kind = SandboxErrorKind::session_not_found, .detail = "x"}), "sandbox session `x` was not found");
  EXPECT_EQ(describe(SandboxError{.kind = SandboxErrorKind::unsupported, .detail = "snapshots", .backend = "local"}),
            "backend `local` does not support snapshots");
  EXPECT_EQ(describe(SandboxError{.kind = SandboxErrorKind::invalid_request, .detail = "d"}), "sandbox request was invalid: d");
  EXPECT_EQ(describe(SandboxError{.kind = SandboxErrorKind::lifecycle, .detail = "d"}), "sandbox lifecycle operation failed: d");
  EXPECT_EQ(describe(SandboxError{.kind = SandboxErrorKind::exec, .detail = "d"}), "sandbox exec failed: d");
  EXPECT_EQ(describe(SandboxError{.kind = SandboxErrorKind::network_policy, .detail = "d"}), "sandbox network policy failed: d");
  EXPECT_EQ(describe(SandboxError{.kind = SandboxErrorKind::io, .detail = "d"}), "sandbox I/O failed: d");
  EXPECT_EQ(describe(SandboxError{.kind = SandboxErrorKind::json, .detail = "d"}), "sandbox JSON failed: d");
  EXPECT_EQ(describe(SandboxError{.kind = SandboxErrorKind::task, .detail = "d"}), "sandbox task failed: d");
}

}  // namespace
}  // namespace harn

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "harn/plan.h"
#include "plan/coverage.h"

namespace harn {
namespace {

AbsPath p(std::string_view text) { return AbsPath::of(text); }

HostFacts host() {
  HostFacts facts;
  facts.name = "test";
  facts.home = p("/home/u");
  facts.temp = p("/tmp");
  facts.cwd = facts.project_root = p("/w");
  facts.unlisted = PathKind::directory;
  facts.uid = facts.gid = 1000;
  facts.linux = {.kernel = "6.12",
                 .landlock_abi = 6,
                 .seccomp = true,
                 .seccomp_notify = true,
                 .user_namespaces = true,
                 .pid_namespaces = true,
                 .network_namespaces = true,
                 .cgroup = CgroupKind::v2};
  return facts;
}

HostFacts bare_host() {
  auto facts = host();
  facts.linux = {};
  return facts;
}

const Command make{.argv = {"make"}, .cwd = {}, .environment = {{"PATH", "/bin"}}};

TEST(MakePlan, ChoosesTheNativeBackendAndCoversEverything) {
  const auto plan = make_plan({}, make, host());
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->route, Route::confined);
  EXPECT_EQ(plan->backend, Backend::linux);
  EXPECT_TRUE(plan::holes(plan->coverage).empty());
  EXPECT_EQ(plan->argv, make.argv);
  EXPECT_EQ(plan->cwd, p("/w"));
  EXPECT_EQ(plan->host, "test");
  EXPECT_EQ(plan->policy_digest.substr(0, 7), "policy-");
}

TEST(MakePlan, OsHardenedRunsWhereEverythingIsEnforced) {
  Policy policy;
  policy.sandbox_profile = Profile::os_hardened;
  EXPECT_EQ(make_plan(policy, make, host())->route, Route::confined);
}

TEST(MakePlan, WithoutNamespacesAStrictProfileIsRefusedByName) {
  auto facts = host();
  facts.linux.user_namespaces = facts.linux.pid_namespaces = facts.linux.network_namespaces = facts.linux.seccomp_notify = false;
  Policy policy;
  const auto loose = make_plan(policy, make, facts);
  EXPECT_EQ(loose->route, Route::confined);
  EXPECT_EQ(loose->coverage[Dimension::metadata].status, Enforcement::not_enforced);
  policy.sandbox_profile = Profile::os_hardened;
  const auto strict = make_plan(policy, make, facts);
  EXPECT_EQ(strict->route, Route::refused);
  EXPECT_NE(std::find(strict->refusal->dimensions.begin(), strict->refusal->dimensions.end(), Dimension::metadata),
            strict->refusal->dimensions.end());
  facts.linux.seccomp_notify = true;
  EXPECT_EQ(make_plan(policy, make, facts)->route, Route::confined) << "a supervisor holds what the view would";
}

TEST(MakePlan, ABackendThatLeavesNothingOpenIsPreferredToOneThatDoes) {
  auto facts = host();
  facts.linux.user_namespaces = facts.linux.pid_namespaces = facts.linux.network_namespaces = false;
  facts.linux.seccomp_notify = false;
  facts.tools["bubblewrap"] = {.path = p("/usr/bin/bwrap"), .version = "0.8.0", .works = true};
  const auto plan = make_plan({}, make, facts);
  EXPECT_EQ(plan->backend, Backend::bubblewrap);
  ASSERT_EQ(plan->tried.size(), 1u);
  EXPECT_EQ(plan->tried[0].backend, Backend::linux);
  facts.linux.seccomp_notify = true;
  EXPECT_EQ(make_plan({}, make, facts)->backend, Backend::linux) << "a supervisor leaves no hole";
}

TEST(MakePlan, AHostWithNothingRunsDirectlyOrRefuses) {
  const auto warn = make_plan({}, make, bare_host());
  EXPECT_EQ(warn->route, Route::direct);
  EXPECT_EQ(warn->backend, Backend::noop);
  EXPECT_EQ(warn->tried.size(), 5u);
  EXPECT_EQ(warn->coverage[Dimension::reads].status, Enforcement::not_enforced);
  const auto enforce = make_plan({}, make, bare_host(), {.fallback = Fallback::enforce});
  EXPECT_EQ(enforce->route, Route::refused);
  EXPECT_EQ(enforce->refusal->mechanism, "none");
}

TEST(MakePlan, ContainersAreTakenOnlyWhenNothingElseWorks) {
  auto facts = bare_host();
  facts.tools["docker"] = {.path = p("/usr/bin/docker"), .version = "20", .works = true};
  EXPECT_EQ(make_plan({}, make, facts)->backend, Backend::docker);
  facts.linux.landlock_abi = 4;
  EXPECT_EQ(make_plan({}, make, facts)->backend, Backend::linux);
}

TEST(MakePlan, TheOperatorsSwitchesAreRecorded) {
  const auto off = make_plan({}, make, host(), {.no_sandbox = true});
  EXPECT_EQ(off->route, Route::direct);
  EXPECT_EQ(off->notes, std::vector<std::string>{"the operator switched the sandbox off"});
  EXPECT_EQ(off->coverage[Dimension::writes],
            (DimensionCoverage{Enforcement::not_enforced, {}, "the command runs directly, without confinement"}));
  EXPECT_EQ(off->coverage[Dimension::env], (DimensionCoverage{Enforcement::enforced, {"launcher"}, ""}));
  const auto fallback = make_plan({}, make, host(), {.fallback = Fallback::off});
  EXPECT_EQ(fallback->notes, std::vector<std::string>{"HARN_HANDLER_SANDBOX=off: running without confinement"});
  Policy open;
  open.sandbox_profile = Profile::unrestricted;
  const auto direct = make_plan(open, make, host());
  EXPECT_EQ(direct->route, Route::direct);
  EXPECT_EQ(direct->coverage[Dimension::reads].status, Enforcement::not_requested);
  open.sandbox_profile = Profile::wasi;
  const auto refused = make_plan(open, make, host());
  ASSERT_FALSE(refused) << "no module may land on the host spawn path";
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_command);
}

TEST(MakePlan, ANamedBackendIsTakenOrRefusedNeverReplaced) {
  EXPECT_EQ(make_plan({}, make, host(), {.backend = Backend::bubblewrap}).error().message,
            "backend 'bubblewrap' was asked for, but bubblewrap is not installed");
  EXPECT_EQ(make_plan({}, make, host(), {.backend = Backend::macos}).error().message, "backend 'macos' does not exist on linux");
  EXPECT_EQ(make_plan({}, make, host(), {.backend = Backend::linux})->backend, Backend::linux);
  EXPECT_EQ(make_plan({}, make, host(), {.backend = Backend::noop})->route, Route::direct);
}

TEST(MakePlan, WrongCommandsAreErrors) {
  EXPECT_EQ(make_plan({}, {.argv = {}}, host()).error().message, "the command is empty");
  EXPECT_EQ(make_plan({}, {.argv = {""}}, host()).error().message, "the command is empty");
  EXPECT_EQ(make_plan({}, {.argv = {"a", std::string("b\0c", 3)}}, host()).error().message, "the argument 'b\\x00c' contains a NUL byte");
}

TEST(MakePlan, APolicyWithoutExecRunsNothing) {
  Policy policy;
  policy.side_effect_level = SideEffectLevel::read_only;
  EXPECT_EQ(make_plan(policy, make, host()).error().message,
            "the policy does not allow running commands: side_effect_level is 'read_only'");
  policy.side_effect_level.reset();
  policy.capabilities = Capabilities{};
  EXPECT_EQ(make_plan(policy, make, host()).error().message,
            "the policy does not allow running commands: capabilities.process lacks 'exec'");
}

TEST(MakePlan, TheWorkingDirectoryMustLieInsideTheRoots) {
  auto command = make;
  command.cwd = p("/elsewhere");
  EXPECT_EQ(make_plan({}, command, host()).error().message, "sandbox violation: process cwd '/elsewhere' is outside workspace_roots [/w]");
  Policy policy;
  policy.workspace_roots = {p("/w")};
  policy.read_only_roots = {p("/elsewhere")};
  EXPECT_TRUE(make_plan(policy, command, host()));
}

TEST(MakePlan, MissingRootsAndUnknownCredentialsAreErrors) {
  auto facts = host();
  facts.paths["/gone"] = {.kind = PathKind::missing};
  for (const auto* member : {"workspace_roots", "read_only_roots", "process_sandbox.read_roots", "process_sandbox.write_roots"}) {
    Policy policy;
    policy.workspace_roots = {p("/w")};
    if (std::string_view(member) == "workspace_roots") policy.workspace_roots->push_back(p("/gone"));
    if (std::string_view(member) == "read_only_roots") policy.read_only_roots = {p("/gone")};
    if (std::string_view(member) == "process_sandbox.read_roots") policy.process_sandbox.read_roots = {p("/gone")};
    if (std::string_view(member) == "process_sandbox.write_roots") policy.process_sandbox.write_roots = {p("/gone")};
    EXPECT_EQ(make_plan(policy, make, facts).error().message, std::string(member) + " names '/gone', which does not exist");
  }
  Policy policy;
  policy.process_sandbox.credentials = {p("/home/u/.ssh/id_rsa")};
  EXPECT_EQ(make_plan(policy, make, host()).error().hint, "the built-in path is '/home/u/.ssh'");
  policy.process_sandbox.credentials = {p("/opt/secret")};
  EXPECT_EQ(make_plan(policy, make, host()).error().hint, "use process_sandbox.read_roots for other paths");
}

TEST(MakePlan, ASocketEntryOpensNothingButASocket) {
  auto facts = host();
  facts.paths["/run/a.sock"] = facts.paths["/home/u/.ssh/agent"] = facts.paths["/w/denied/s"] = {.kind = PathKind::socket};
  facts.paths["/home/u/.ssh"] = facts.paths["/w/denied"] = {.kind = PathKind::directory};
  facts.paths["/run/gone"] = {.kind = PathKind::missing};
  const auto message = [&](const char* path) {
    Policy policy;
    policy.process_sandbox.unix_sockets = {{p(path), false}};
    policy.process_sandbox.read_deny_roots = {p("/w/denied")};
    const auto plan = make_plan(policy, make, facts);
    return plan ? std::string() : plan.error().message;
  };
  EXPECT_EQ(message("/run/a.sock"), "");
  EXPECT_EQ(message("/home/u/.ssh"), "process_sandbox.unix_sockets names '/home/u/.ssh', which is not a socket");
  EXPECT_EQ(message("/run/gone"), "process_sandbox.unix_sockets names '/run/gone', which does not exist");
  EXPECT_EQ(message("/home/u/.ssh/agent"),
            "process_sandbox.unix_sockets names '/home/u/.ssh/agent', which lies in the credential path '/home/u/.ssh'");
  facts.account_home = p("/root");
  facts.paths["/root/.gnupg/S.gpg-agent"] = {.kind = PathKind::socket};
  EXPECT_EQ(message("/root/.gnupg/S.gpg-agent"),
            "process_sandbox.unix_sockets names '/root/.gnupg/S.gpg-agent', which lies in the credential path '/root/.gnupg'");
  EXPECT_EQ(message("/w/denied/s"), "process_sandbox.unix_sockets names '/w/denied/s', which lies in the denied '/w/denied'");
}

TEST(MakePlan, EveryPlatformPlansOnThisMachine) {
  auto facts = host();
  facts.tools["sandbox-exec"] = {.path = p("/usr/bin/sandbox-exec"), .works = true};
  const std::pair<Platform, Backend> table[] = {
      {Platform::linux, Backend::linux}, {Platform::macos, Backend::macos}, {Platform::openbsd, Backend::openbsd}};
  for (const auto& [platform, backend] : table) {
    facts.platform = platform;
    // OpenBSD's table of unveiled names is small; on a real host most of what we name is absent.
    facts.unlisted = platform == Platform::openbsd ? PathKind::missing : PathKind::directory;
    facts.paths["/w"] = facts.paths["/usr"] = {.kind = PathKind::directory};
    EXPECT_EQ(make_plan({}, make, facts)->backend, backend);
  }
  facts.unlisted = PathKind::directory;
  facts.platform = Platform::windows;
  facts.home = p("C:/Users/u");
  facts.temp = p("C:/Temp");
  facts.cwd = facts.project_root = p("C:/w");
  EXPECT_EQ(make_plan({}, make, facts)->backend, Backend::windows);
}

TEST(MakePlan, AContradictoryPolicyIsRejectedBeforeAnythingElse) {
  Policy policy;
  policy.network = Network{.mode = NetworkMode::unrestricted};
  EXPECT_EQ(make_plan(policy, make, host()).error().code, ErrorCode::invalid_policy);
}

}  // namespace
}  // namespace harn

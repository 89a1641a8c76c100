// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/linux/relay_confinement.h"
#include "plan/syscalls/bpf.h"
#include "support/linux_plans.h"

namespace harn::plan {
namespace {

using namespace harn::test;

TEST(LowerLinux, NeitherNamespacesNorLandlockIsNotSupported) {
  const auto policy = quiet_policy();
  const auto facts = without_namespaces(0);
  const auto plan = try_lower(policy, facts);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::not_supported);
}

TEST(LowerLinux, RefusesADangerousSocket) {
  auto policy = quiet_policy();
  policy.process_sandbox.unix_sockets = {{AbsPath::of("/run/docker.sock")}};
  const auto facts = modern_host();
  const auto plan = try_lower(policy, facts);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::invalid_policy);
}

Policy with_network(Network network) {
  auto policy = quiet_policy();
  policy.side_effect_level = SideEffectLevel::network;
  policy.network = std::move(network);
  return policy;
}

bool has_network_namespace(const Plan& plan) {
  const auto& names = confinement(plan).view->namespaces;
  return std::ranges::count(names, "net") == 1;
}

TEST(LowerLinux, TakesANetworkNamespaceOnlyWhereSomethingNeedsIt) {
  const Network hosts{.allowed_hosts = {{.host = "b.org"}, {.host = "a.org", .port = 443}}, .blocked_ports = {25}};
  const Network open{.mode = NetworkMode::unrestricted};
  const struct {
    const char* name;
    Network network;
    int abi;
    bool seccomp;
    bool expected;
    const char* coverage;
  } table[] = {
      {"nothing is reachable", {}, 9, true, false, "enforced landlock seccomp"},
      {"own loopback", {.loopback = true}, 9, true, true, "enforced view"},
      {"named hosts", hosts, 9, true, true, "enforced view relay"},
      {"everything", open, 9, true, false, "not_requested"},
      {"everything on an old kernel", open, 5, true, false, "not_requested"},
      {"abstract sockets on an old kernel", {}, 5, true, true, "enforced view landlock seccomp"},
      {"no filter", {}, 9, false, true, "enforced view landlock"},
  };
  for (const auto& row : table) {
    auto facts = modern_host();
    facts.linux.landlock_abi = row.abi;
    facts.linux.seccomp = row.seccomp;
    const auto plan = lowered(with_network(row.network), facts);
    EXPECT_EQ(has_network_namespace(plan), row.expected) << row.name;
    EXPECT_EQ(text_of(plan.coverage, Dimension::network), row.coverage) << row.name;
    EXPECT_EQ(confinement(plan).view->loopback_up, row.network.loopback || !row.network.allowed_hosts.empty()) << row.name;
    EXPECT_EQ(plan.egress.has_value(), !row.network.allowed_hosts.empty()) << row.name;
  }
  const auto egress = *lowered(with_network(hosts), modern_host()).egress;
  EXPECT_EQ(egress,
            (EgressPlan{.allow = {{.host = "a.org", .port = 443}, {.host = "b.org"}}, .blocked_ports = {25}, .ports = {22, 80, 443}}));
}

TEST(LowerLinux, NamedHostsComeWithNamesAndProxies) {
  auto policy = with_network({.allowed_hosts = {{.host = "a.org", .port = 8443}}});
  policy.env.set["NO_PROXY"] = "mine";
  const auto facts = modern_host();
  const auto rules = PathRules::for_processes(policy, facts);
  Command command{.argv = {"true"}};
  EgressChoices choices{
      .deny = {{.host = "b.a.org"}}, .block_private = false, .allow_loopback = true, .publish = {9000, 8000}, .ports = {5432}};
  Plan plan;
  plan.env.variables = {{"http_proxy", "http://corporate:1"}, {"HTTPS_PROXY", "http://corporate:1"}, {"NO_PROXY", "mine"}};
  ASSERT_TRUE(lower_linux({.policy = policy, .command = command, .facts = facts, .rules = rules, .egress = choices}, plan));
  EXPECT_EQ(*plan.egress, (EgressPlan{.allow = {{.host = "a.org", .port = 8443}},
                                      .deny = {{.host = "b.a.org"}},
                                      .block_private = false,
                                      .allow_loopback = true,
                                      .ports = {5432, 8443},
                                      .publish = {8000, 9000}}));
  EXPECT_EQ(plan.env.variables["HTTPS_PROXY"], "http://127.0.0.1:3128");
  EXPECT_EQ(plan.env.variables["NO_PROXY"], "mine");
  EXPECT_FALSE(plan.env.variables.contains("http_proxy"));
  ASSERT_EQ(plan.env.removed.size(), 1u);
  EXPECT_EQ(plan.env.removed[0].name, "http_proxy");
  const auto& files = confinement(plan).view->files;
  EXPECT_TRUE(files.contains("/etc/resolv.conf") && files.contains("/etc/hosts"));

  choices = {.publish = {8000}};
  auto closed = with_network({.loopback = true});
  Plan own;
  ASSERT_TRUE(lower_linux({.policy = closed, .command = command, .facts = facts, .rules = rules, .egress = choices}, own));
  EXPECT_EQ(*own.egress, EgressPlan{.publish = {8000}});
  EXPECT_TRUE(confinement(own).view->files.empty());
}

TEST(LowerLinux, TheRelayGetsSocketsAndNothingElse) {
  for (const auto* arch : {"x86_64", "aarch64"}) {
    const auto relay = relay_confinement(
        {.landlock = LandlockPlan{.abi = 7, .handled_fs = {"read_file"}, .rules = {{AbsPath::of("/etc"), {"read_file"}, ""}}},
         .syscalls = SyscallFilter{.arch = arch}});
    EXPECT_TRUE(relay.landlock->rules.empty());
    EXPECT_EQ(relay.landlock->handled_fs, std::vector<std::string>{"read_file"});
    EXPECT_TRUE(relay.drop_capabilities && relay.no_new_privileges);
    EXPECT_TRUE(compile_filter(*relay.syscalls)) << arch;
    for (const auto& rule : relay.syscalls->rules)
      for (const auto& name : rule.names)
        for (const auto* never : {"open", "openat", "ptrace", "kill", "clone", "fork", "mount", "bind", "listen", "io_uring_setup"})
          EXPECT_NE(name, never);
  }
}

TEST(LowerLinux, WhatNeedsAnOwnNetworkGetsNothingWithoutOne) {
  const std::pair<Network, const char*> table[] = {{{.loopback = true}, "loopback_only"},
                                                   {{.allowed_hosts = {{.host = "a.org"}}}, "per_host_network"}};
  for (const auto& [network, code] : table) {
    auto facts = modern_host();
    facts.linux.network_namespaces = false;
    for (const auto& host : {facts, without_namespaces(9)}) {
      const auto plan = lowered(with_network(network), host);
      EXPECT_EQ(codes(plan.coverage, Dimension::network), std::vector<std::string>{code});
      EXPECT_EQ(text_of(plan.coverage, Dimension::network), "not_enforced landlock seccomp");
      EXPECT_EQ(confinement(plan).landlock->handled_net.size(), 2u);
      EXPECT_FALSE(plan.egress);
    }
  }
}

TEST(LowerLinux, SinglePortsOfAnOpenNetworkCannotBeRefused) {
  const auto plan = lowered(with_network({.mode = NetworkMode::unrestricted, .blocked_ports = {25}}), modern_host());
  EXPECT_EQ(codes(plan.coverage, Dimension::network), std::vector<std::string>{"blocked_ports"});
}

TEST(LowerLinux, AnUnknownArchitectureIsNotSupported) {
  const auto policy = quiet_policy();
  auto facts = modern_host();
  facts.linux.arch = "vax";
  const auto plan = try_lower(policy, facts);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::not_supported);
}

TEST(LowerLinux, TemporaryFilesGoWhereTheCommandMayWrite) {
  const struct {
    const char* name;
    bool view;
    const char* tmp;  // a root of the policy at this path, writable when it is "/tmp"
    const char* expected;
    bool caches;
  } table[] = {
      {"private /tmp", true, nullptr, "/tmp", false},
      {"granted /tmp", true, "/tmp", "/tmp", false},
      {"everything readable", true, "/", "/w/.harn-tmp", true},
      {"no view", false, nullptr, "/w/.harn-tmp", true},
  };
  for (const auto& row : table) {
    auto policy = quiet_policy();
    policy.process_sandbox.presets = {Preset::user_temp};
    if (row.tmp != nullptr) {
      auto& roots = std::string_view(row.tmp) == "/tmp" ? policy.process_sandbox.write_roots : policy.read_only_roots;
      roots = {AbsPath::of(row.tmp)};
    }
    const auto plan = lowered(policy, row.view ? modern_host() : without_namespaces(9));
    EXPECT_EQ(plan.env.variables.at("TMPDIR"), row.expected) << row.name;
    EXPECT_EQ(plan.scratch.has_value(), std::string_view(row.expected) != "/tmp") << row.name;
    EXPECT_EQ(plan.env.variables.contains("XDG_CACHE_HOME"), row.caches) << row.name;
  }
}

TEST(LowerLinux, CachesStayWhereTheHomeIsWritable) {
  auto policy = quiet_policy();
  policy.workspace_roots = {AbsPath::of("/home/u")};
  policy.unprotect = {AbsPath::of("/home/u")};
  policy.process_sandbox.presets = {Preset::user_temp};
  const auto plan = lowered(policy, without_namespaces(9));
  EXPECT_EQ(plan.env.variables.at("TMPDIR"), "/home/u/.harn-tmp");
  EXPECT_FALSE(plan.env.variables.contains("XDG_CACHE_HOME"));
}

TEST(LowerLinux, WithoutAWritableRootThereIsNoTemp) {
  auto policy = quiet_policy();
  policy.workspace_roots->clear();
  policy.process_sandbox.presets = {Preset::user_temp};
  const auto plan = lowered(policy, without_namespaces(9));
  EXPECT_FALSE(plan.env.variables.contains("TMPDIR"));
  EXPECT_EQ(std::ranges::count(plan.notes, "there is no writable workspace root to hold temporary files"), 1);
  policy.process_sandbox.presets.emplace();
  EXPECT_EQ(std::ranges::count(lowered(policy, without_namespaces(9)).notes, "there is no writable workspace root to hold temporary files"),
            0);
}

TEST(LowerLinux, NotesWhatIsRefusedWithoutBeingAsked) {
  auto policy = quiet_policy();
  policy.read_only_roots = {AbsPath::of("/srv")};
  policy.process_sandbox.read_deny_roots = {AbsPath::of("/srv/key")};
  auto facts = without_namespaces(1);
  facts.paths["/srv"] = {.kind = PathKind::directory, .entries = {{"a", "key"}}};
  EXPECT_EQ(lowered(policy, facts).notes,
            (std::vector<std::string>{
                "Unix sockets are limited to connected pairs: nothing here keeps sockets of the host away",
                "files cannot be moved or linked between directories: Landlock ABI 1 always refuses it",
                "truncate by path is refused: Landlock before ABI 3 cannot judge it",
                "terminals and shared memory of the host stay closed: without user namespaces there are no private ones",
                "'/srv' cannot be listed, because something in it is denied",
                "when harn itself is killed (SIGKILL, out of memory), what the command started lives on, past its limits"}));
}

}  // namespace
}  // namespace harn::plan

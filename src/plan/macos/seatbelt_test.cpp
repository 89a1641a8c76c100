// SPDX-License-Identifier: Apache-2.0
#include "plan/macos/seatbelt.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/macos/seatbelt_base.h"
#include "plan/macos/seatbelt_paths.h"

namespace harn::plan {
namespace {

HostFacts mac() {
  HostFacts facts;
  facts.platform = Platform::macos;
  facts.uid = 501;
  facts.home = AbsPath::of("/Users/me");
  facts.cwd = facts.project_root = AbsPath::of("/w");
  facts.unlisted = PathKind::directory;
  return facts;
}

// One workspace, nothing else: what the profile always carries stands out.
Policy bare() {
  Policy policy;
  policy.workspace_roots = {AbsPath::of("/w")};
  policy.unprotect = *policy.workspace_roots;
  policy.process_sandbox.presets.emplace();
  return policy;
}

Policy networked(Network network) {
  auto policy = bare();
  policy.side_effect_level = SideEffectLevel::network;
  policy.network = std::move(network);
  return policy;
}

Result<Plan> lowered(const Policy& policy, std::vector<std::string> argv = {"make"}) {
  const auto facts = mac();
  const Command command{.argv = std::move(argv)};
  const auto rules = PathRules::for_processes(policy, facts);
  Plan plan;
  plan.cwd = facts.cwd;
  plan.argv = command.argv;
  HARN_OK(lower_seatbelt({.policy = policy, .command = command, .facts = facts, .rules = rules}, plan));
  return plan;
}

std::vector<SbplRule> rules_of(const Policy& policy) {
  const auto facts = mac();
  const Command command{.argv = {"make"}};
  const auto rules = PathRules::for_processes(policy, facts);
  return seatbelt_rules({.policy = policy, .command = command, .facts = facts, .rules = rules});
}

// The rules about the network, which come last.
std::vector<SbplRule> network_rules(const Policy& policy) {
  auto rules = rules_of(policy);
  std::erase_if(rules, [](const SbplRule& rule) {
    return std::none_of(rule.operations.begin(), rule.operations.end(),
                        [](const std::string& operation) { return operation.starts_with("network") || operation == "system-socket"; });
  });
  return rules;
}

std::vector<std::string> gap_codes(const Plan& plan) {
  std::vector<std::string> codes;
  for (const auto& gap : plan.coverage.gaps) codes.push_back(gap.code);
  std::sort(codes.begin(), codes.end());
  return codes;
}

const std::string sockets_why = "Unix sockets are listed one by one";

TEST(Seatbelt, WrapsTheCommandInSandboxExec) {
  const auto plan = lowered(bare(), {"make", "-j2"});
  ASSERT_TRUE(plan);
  const auto& wrapper = std::get<Wrapper>(plan->confinement);
  EXPECT_EQ(wrapper.argv, (std::vector<std::string>{"/usr/bin/sandbox-exec", "-p", wrapper.profile, "--", "make", "-j2"}));
  EXPECT_TRUE(wrapper.files.empty());
}

TEST(Seatbelt, TheProfileIsTheBaseThenThePathsThenTheNetwork) {
  const auto policy = networked({.loopback = true});
  auto expected = seatbelt_base(policy, mac());
  for (auto part : {seatbelt_path_rules(PathRules::for_processes(policy, mac())), network_rules(policy)})
    expected.insert(expected.end(), part.begin(), part.end());
  EXPECT_EQ(rules_of(policy), expected);
  const auto plan = lowered(policy);
  ASSERT_TRUE(plan);
  EXPECT_EQ(std::get<Wrapper>(plan->confinement).profile, sbpl_text(expected));
}

TEST(Seatbelt, ALongProfileTravelsAsAFile) {
  auto policy = bare();
  policy.read_only_roots.emplace();
  for (int i = 0; i < 10'000; ++i) policy.read_only_roots->push_back(AbsPath::of("/data/set-" + std::to_string(i)));
  const auto plan = lowered(policy);
  ASSERT_TRUE(plan);
  const auto& wrapper = std::get<Wrapper>(plan->confinement);
  EXPECT_EQ(wrapper.argv, (std::vector<std::string>{"/usr/bin/sandbox-exec", "-f", "@file:profile.sb", "--", "make"}));
  ASSERT_EQ(wrapper.files.size(), 1u);
  EXPECT_EQ(wrapper.files[0], (WrapperFile{"profile.sb", wrapper.profile}));
}

// The word that stands for the port may stand in a path too; a rule about that path must go on naming it.
TEST(Seatbelt, ThePortIsFilledInInOneRuleOnly) {
  auto policy = networked({.allowed_hosts = {{.host = "example.org"}}});
  policy.process_sandbox.read_deny_roots = {AbsPath::of("/w/@run:relay_port"), AbsPath::of("/w/(remote ip \"localhost:@run:relay_port\")")};
  const auto profile = seatbelt_with_relay_port(sbpl_text(rules_of(policy)), 4711);
  EXPECT_NE(profile.find("(remote ip \"localhost:4711\")"), std::string::npos) << profile;
  EXPECT_EQ(profile.find("4711"), profile.rfind("4711")) << profile;
  EXPECT_NE(profile.find("\"/w/@run:relay_port\""), std::string::npos) << profile;
}

TEST(Seatbelt, NetworkRulesPerReach) {
  const SbplFilter local{SbplMatch::local_address, "localhost:*"};
  const SbplFilter remote{SbplMatch::remote_address, "localhost:*"};
  const SbplFilter resolver{SbplMatch::socket, "/private/var/run/mDNSResponder"};
  const std::vector<SbplRule> loopback = {{true, {"network-bind", "network-inbound"}, {local}, "loopback"},
                                          {true, {"network-outbound"}, {remote}, "loopback"}};
  const std::vector<SbplRule> everything = {
      {true, {"network*", "system-socket"}, {}, "network"},
      {false, {"network-outbound"}, {{SbplMatch::any_socket, {}}}, sockets_why},
      {false, {"network-outbound"}, {{SbplMatch::remote_address, "*:22"}, {SbplMatch::remote_address, "*:25"}}, "blocked ports"},
      {true, {"network-outbound"}, {resolver}, sockets_why}};
  EXPECT_EQ(network_rules(bare()), std::vector<SbplRule>{});
  EXPECT_EQ(network_rules(networked({.loopback = true})), loopback);
  const SbplRule relay{
      true, {"network-outbound"}, {{SbplMatch::remote_address, "localhost:@run:relay_port"}}, "the relay, which decides about hosts"};
  EXPECT_EQ(network_rules(networked({.allowed_hosts = {{.host = "example.org"}}})), std::vector<SbplRule>{relay});
  auto both = loopback;
  both.insert(both.begin(), relay);
  EXPECT_EQ(network_rules(networked({.allowed_hosts = {{.host = "example.org"}}, .loopback = true})), both);
  EXPECT_EQ(network_rules(networked({.mode = NetworkMode::unrestricted, .blocked_ports = {25, 22}})), everything);
}

TEST(Seatbelt, SocketsAreOpenedOneByOneUnderBothNames) {
  auto policy = bare();
  policy.process_sandbox.unix_sockets = {{AbsPath::of("/w/b.sock"), false}, {AbsPath::of("/tmp/a.sock"), false}};
  const std::vector<SbplRule> expected = {
      {true, {"system-socket"}, {{SbplMatch::unix_domain, {}}}, sockets_why},
      {true,
       {"network-outbound"},
       {{SbplMatch::socket, "/private/tmp/a.sock"}, {SbplMatch::socket, "/tmp/a.sock"}, {SbplMatch::socket, "/w/b.sock"}},
       sockets_why}};
  EXPECT_EQ(network_rules(policy), expected);
}

TEST(Seatbelt, RefusesASocketThatHandsOutTheHost) {
  auto policy = bare();
  policy.process_sandbox.unix_sockets = {{AbsPath::of("/var/run/docker.sock"), false}};
  const auto plan = lowered(policy);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::invalid_policy);
}

TEST(Seatbelt, SaysWhatItDoesNotEnforce) {
  struct Row {
    Policy policy;
    Enforcement network;
    std::vector<std::string> codes;
  };
  const Row rows[] = {
      {bare(), Enforcement::enforced, {"mach_services_open", "process_listing"}},
      {networked({.loopback = true}), Enforcement::degraded, {"loopback_shared", "mach_services_open", "process_listing"}},
      {networked({.allowed_hosts = {{.host = "example.org"}}}), Enforcement::enforced, {"mach_services_open", "process_listing"}},
      {networked({.mode = NetworkMode::unrestricted, .blocked_ports = {25}}),
       Enforcement::enforced,
       {"mach_services_open", "process_listing"}},
  };
  for (const auto& row : rows) {
    const auto plan = lowered(row.policy);
    ASSERT_TRUE(plan);
    EXPECT_EQ(gap_codes(*plan), row.codes);
    EXPECT_EQ(plan->coverage[Dimension::network].status, row.network);
    for (const auto dimension :
         {Dimension::reads, Dimension::writes, Dimension::credential_reads, Dimension::metadata, Dimension::signals, Dimension::devices})
      EXPECT_EQ(plan->coverage[dimension], (DimensionCoverage{Enforcement::enforced, {"sbpl"}, {}}));
  }
}

TEST(Seatbelt, CarriesTheHostsForARelay) {
  const auto plan = lowered(networked({.allowed_hosts = {{.host = "example.org"}}, .blocked_ports = {25}}));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->egress, (EgressPlan{.allow = {{.host = "example.org"}}, .blocked_ports = {25}, .relay_port = 0}));
}

TEST(Seatbelt, TemporaryFilesGoIntoTheWorkspace) {
  auto policy = bare();
  policy.process_sandbox.presets = std::set{Preset::user_temp};
  const auto plan = lowered(policy);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->scratch, AbsPath::of("/w/.harn-tmp"));
  EXPECT_EQ(plan->env.variables.at("TMPDIR"), "/w/.harn-tmp");
  EXPECT_EQ(lowered(bare())->scratch, std::nullopt);
}

TEST(Seatbelt, TheScratchDirectoryIsInTheRootAroundTheWorkingDirectory) {
  auto policy = bare();
  policy.process_sandbox.presets = std::set{Preset::user_temp};
  policy.workspace_roots = {AbsPath::of("/a"), AbsPath::of("/w")};
  EXPECT_EQ(lowered(policy)->scratch, AbsPath::of("/w/.harn-tmp"));
  policy.process_sandbox.read_deny_roots = {AbsPath::of("/w/.harn-tmp")};
  EXPECT_EQ(lowered(policy)->scratch, AbsPath::of("/a/.harn-tmp"));
  policy.capabilities = Capabilities{.workspace = {WorkspaceOp::read_text}, .process = {ProcessOp::exec}};
  EXPECT_EQ(lowered(policy)->scratch, std::nullopt);
}

TEST(Seatbelt, RewritesSwiftPmAndSaysSo) {
  const auto plan = lowered(bare(), {"swift", "build"});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->argv.at(2), "--disable-sandbox");
  EXPECT_EQ(std::get<Wrapper>(plan->confinement).argv.back(), plan->argv.back());
  EXPECT_EQ(plan->notes.size(), 2u);
  EXPECT_EQ(lowered(bare())->notes.size(), 1u);
}

TEST(Seatbelt, LimitsAreThoseOfAnyPosixHost) {
  auto policy = bare();
  policy.limits.max_cpu_seconds = 7;
  const auto plan = lowered(policy);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->limits.rlimits.front(), (ResourceLimit{"cpu", 7, 8}));
}

}  // namespace
}  // namespace harn::plan

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "harn/policy.h"
#include "policy/hosts.h"

namespace harn {
namespace {

AbsPath p(std::string_view text) { return AbsPath::of(text); }

Policy ceiling() {
  Policy policy;
  policy.sandbox_profile = Profile::os_hardened;
  policy.side_effect_level = SideEffectLevel::network;
  policy.workspace_roots = {p("/w")};
  policy.network = Network{.allowed_hosts = {*policy::parse_host_rule("*.example.org")}};
  policy.limits.max_memory_mb = 512;
  policy.env.strip = {"X_*"};
  policy.recursion_limit = 3;
  return policy;
}

Policy request() {
  Policy policy;
  policy.side_effect_level = SideEffectLevel::network;
  policy.workspace_roots = {p("/w/sub"), p("/other")};
  policy.network = Network{.allowed_hosts = {*policy::parse_host_rule("a.example.org"), *policy::parse_host_rule("evil.test")}};
  policy.limits.max_memory_mb = 1024;
  policy.limits.max_processes = 8;
  return policy;
}

TEST(Intersect, TakesTheStricterOfEveryMember) {
  const auto both = intersect(ceiling(), request()).policy;
  EXPECT_EQ(both.profile(), Profile::os_hardened);
  EXPECT_EQ(both.workspace_roots, std::vector{p("/w/sub")});
  EXPECT_EQ(both.network->allowed_hosts, std::vector{*policy::parse_host_rule("a.example.org")});
  EXPECT_EQ(both.limits.max_memory_mb, 512u);
  EXPECT_EQ(both.limits.max_processes, 8u);
  EXPECT_EQ(both.env.strip, std::set<std::string>{"X_*"});
  EXPECT_EQ(both.recursion_limit, 3u);
}

TEST(Intersect, ReportsWhatWasTakenAndByWhom) {
  const auto items = intersect(ceiling(), request()).narrowing;
  const auto has = [&](const NarrowingItem& item) { return std::find(items.begin(), items.end(), item) != items.end(); };
  EXPECT_TRUE(has({"workspace_roots", "/other", "", Side::requested}));
  EXPECT_TRUE(has({"workspace_roots", "/w", "workspace_roots /w/sub", Side::ceiling}));
  EXPECT_TRUE(has({"network.allowed_hosts", "evil.test", "", Side::requested}));
  EXPECT_TRUE(has({"limits.max_memory_mb", "1024", "512", Side::requested}));
  EXPECT_TRUE(has({"limits.max_processes", "no limit", "8", Side::ceiling}));
  EXPECT_TRUE(has({"sandbox_profile", "worktree", "os_hardened", Side::requested}));
  EXPECT_TRUE(has({"env.strip", "without X_*", "X_*", Side::requested}));
}

TEST(Intersect, BelowTheNetworkLevelNoHostSurvives) {
  auto local = request();
  local.side_effect_level = SideEffectLevel::process_exec;
  local.network.reset();
  const auto both = intersect(ceiling(), local).policy;
  EXPECT_EQ(both.network, std::nullopt);
  EXPECT_TRUE(validate(both));
}

TEST(Intersect, AnUnrestrictedNetworkYieldsToALimitedOne) {
  auto open = request();
  open.network = Network{.mode = NetworkMode::unrestricted, .blocked_ports = {25}};
  const auto both = intersect(ceiling(), open).policy;
  EXPECT_EQ(both.network->mode, NetworkMode::limited);
  EXPECT_EQ(both.network->allowed_hosts, ceiling().network->allowed_hosts);
  EXPECT_EQ(both.network->blocked_ports, std::set<std::uint16_t>{25});
  EXPECT_EQ(intersect(open, ceiling()).policy, both);
}

TEST(Intersect, DefaultPresetsNeverGainTokensFromTheOtherSide) {
  Policy named;
  named.process_sandbox.presets = std::set{Preset::package_manager_config, Preset::system_runtime};
  const auto both = intersect(Policy{}, named).policy;
  EXPECT_EQ(both.process_sandbox.presets, named.process_sandbox.presets);
  EXPECT_FALSE(both.exposes_package_tokens());
  EXPECT_TRUE(intersect(named, named).policy.exposes_package_tokens());
}

TEST(Intersect, SocketsAndCredentialsAreCommonOnes) {
  Policy a, b;
  a.process_sandbox.unix_sockets = {{p("/run/a.sock"), true}, {p("/run/b.sock"), false}};
  b.process_sandbox.unix_sockets = {{p("/run/a.sock"), false}};
  a.process_sandbox.credentials = {p("/home/u/.ssh"), p("/home/u/.aws")};
  b.process_sandbox.credentials = {p("/home/u/.aws")};
  const auto both = intersect(a, b).policy.process_sandbox;
  EXPECT_EQ(both.unix_sockets, (std::vector<UnixSocket>{{p("/run/a.sock"), false}}));
  EXPECT_EQ(both.credentials, std::vector{p("/home/u/.aws")});
}

TEST(Within, AnswersYesOrNamesEveryDimension) {
  EXPECT_TRUE(within(ceiling(), ceiling()).empty());
  EXPECT_TRUE(within(ceiling(), intersect(ceiling(), request()).policy).empty());
  const auto wider = within(ceiling(), request());
  const auto named = [&](std::string_view member) {
    return std::any_of(wider.begin(), wider.end(), [&](const Widening& w) { return w.member == member; });
  };
  EXPECT_TRUE(named("sandbox_profile"));
  EXPECT_TRUE(named("workspace_roots"));
  EXPECT_TRUE(named("network.allowed_hosts"));
  EXPECT_TRUE(named("limits.max_memory_mb"));
  EXPECT_TRUE(named("env.strip"));
  EXPECT_TRUE(named("recursion_limit"));
  EXPECT_FALSE(named("limits.max_processes"));
  const auto it = std::find_if(wider.begin(), wider.end(), [](const Widening& w) { return w.member == "workspace_roots"; });
  EXPECT_EQ(it->ceiling, "/w");
  EXPECT_EQ(it->requested, "/other, /w/sub");
}

}  // namespace
}  // namespace harn

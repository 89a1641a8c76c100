// SPDX-License-Identifier: Apache-2.0
#include "harn/scope.h"

#include <thread>

#include <gtest/gtest.h>

namespace harn {
namespace {

using namespace std::chrono_literals;

Policy rooted(std::vector<std::string_view> roots) {
  Policy policy;
  policy.workspace_roots.emplace();
  for (const auto root : roots) policy.workspace_roots->push_back(AbsPath::of(root));
  return policy;
}

TEST(PolicyScope, NestedScopesIntersectAndLeavingRestores) {
  EXPECT_EQ(PolicyScope::current(), nullptr);
  auto outer_policy = rooted({"/w"});
  outer_policy.limits.max_memory_mb = 512;
  {
    const auto outer = PolicyScope::enter(outer_policy);
    ASSERT_TRUE(outer);
    {
      auto wide = rooted({"/w/a", "/elsewhere"});
      wide.limits.max_memory_mb = 4096;
      const auto inner = PolicyScope::enter(wide);
      ASSERT_TRUE(inner);
      EXPECT_EQ(inner->policy().workspace_roots, std::vector{AbsPath::of("/w/a")});
      EXPECT_EQ(inner->policy().limits.max_memory_mb, 512u);
      EXPECT_FALSE(inner->narrowing().empty());
      EXPECT_EQ(*PolicyScope::current(), inner->policy());
    }
    EXPECT_EQ(*PolicyScope::current(), outer_policy);
  }
  EXPECT_EQ(PolicyScope::current(), nullptr);
}

TEST(PolicyScope, UnsetRootsAreTheSurroundingOnesAndEmptyOnesAreNone) {
  const auto outer = PolicyScope::enter(rooted({"/w"}));
  const auto inner = PolicyScope::enter({});
  EXPECT_EQ(inner->policy().workspace_roots, std::vector{AbsPath::of("/w")});
  EXPECT_EQ(within_scope(rooted({"/w/a"}))->workspace_roots, std::vector{AbsPath::of("/w/a")});
  EXPECT_TRUE(entries(within_scope(rooted({}))->workspace_roots).empty());
}

TEST(PolicyScope, WhatAScopeDoesNotMentionStays) {
  auto wide = rooted({"/w"});
  wide.side_effect_level = SideEffectLevel::network;
  wide.network = Network{.mode = NetworkMode::unrestricted};
  wide.read_only_roots = {AbsPath::of("/lib")};
  wide.process_sandbox.read_roots = {AbsPath::of("/opt/sdk")};
  wide.process_sandbox.presets = std::set{Preset::system_runtime};
  wide.env.passthrough = std::set<std::string>{"SSH_AUTH_SOCK"};
  Policy only_limits;
  only_limits.limits.max_processes = 4;
  auto expected = wide;
  expected.limits.max_processes = 4;
  {
    const auto scope = PolicyScope::enter(only_limits);
    EXPECT_EQ(digest(*within_scope(wide)), digest(expected));
    const auto inner = PolicyScope::enter(wide);
    EXPECT_EQ(digest(inner->policy()), digest(expected));
  }
  Policy closed;
  closed.network = Network{};
  closed.read_only_roots = {std::vector<AbsPath>{}};
  const auto scope = PolicyScope::enter(closed);
  EXPECT_EQ(within_scope(wide)->effective_network().mode, NetworkMode::limited);
  EXPECT_TRUE(entries(within_scope(wide)->read_only_roots).empty());
}

// What a policy leaves unset is not for a scope to fill.
TEST(PolicyScope, NeverWidensWhatAPolicyDoesNotMention) {
  auto policy = rooted({"/w"});
  policy.recursion_limit = 1;
  Policy wide;
  wide.sandbox_profile = Profile::unrestricted;
  wide.side_effect_level = SideEffectLevel::network;
  wide.network = Network{.mode = NetworkMode::unrestricted};
  wide.read_only_roots = {AbsPath::of("/etc")};
  wide.unprotect = {AbsPath::of("/w/.git/hooks")};
  wide.process_sandbox.read_roots = {AbsPath::of("/opt")};
  wide.process_sandbox.write_roots = {AbsPath::of("/srv")};
  wide.process_sandbox.credentials = {AbsPath::of("/home/u/.netrc")};
  wide.process_sandbox.package_tokens = true;
  wide.process_sandbox.unix_sockets = {UnixSocket{.path = AbsPath::of("/run/docker.sock"), .allow_dangerous = true}};
  wide.env.passthrough = std::set<std::string>{"FOO_TOKEN"};
  wide.env.set = {{"ZZ", "1"}};
  wide.recursion_limit = 7;
  const auto check = [&] {
    const auto inside = within_scope(policy);
    ASSERT_TRUE(inside);
    for (const auto& widening : within(policy, *inside)) ADD_FAILURE() << widening.member << ": " << widening.requested;
    EXPECT_EQ(inside->profile(), Profile::worktree);
    EXPECT_FALSE(inside->exposes_package_tokens());
    EXPECT_TRUE(inside->env.set.empty());
  };
  const auto outer = PolicyScope::enter(wide);
  check();
  const auto narrow = PolicyScope::enter({});
  const auto wide_again = PolicyScope::enter(wide);
  check();
}

TEST(PolicyScope, SubAgentsCountAgainstThePolicyToo) {
  auto policy = rooted({"/w"});
  policy.recursion_limit = 1;
  const auto first = PolicyScope::enter({}, {.sub_agent = true});
  EXPECT_EQ(within_scope(policy)->recursion_limit, 0u);
  const auto second = PolicyScope::enter({}, {.sub_agent = true});
  ASSERT_TRUE(second);
  EXPECT_EQ(within_scope(policy).error().code, ErrorCode::refused);
}

TEST(PolicyScope, LeavingOutOfOrderNeverBringsBackWhatWasLeft) {
  std::optional<PolicyScope> outer(*PolicyScope::enter(rooted({"/w"})));
  std::optional<PolicyScope> inner(*PolicyScope::enter(rooted({"/w/a"})));
  outer.reset();
  EXPECT_EQ(PolicyScope::current()->workspace_roots, std::vector{AbsPath::of("/w/a")});
  inner.reset();
  EXPECT_EQ(PolicyScope::current(), nullptr);
}

TEST(PolicyScope, BelongsToItsThread) {
  const auto scope = PolicyScope::enter(rooted({"/w"}));
  std::thread([] { EXPECT_EQ(PolicyScope::current(), nullptr); }).join();
  EXPECT_NE(PolicyScope::current(), nullptr);
}

TEST(PolicyScope, SubAgentsRunOut) {
  auto policy = rooted({"/w"});
  policy.recursion_limit = 2;
  const auto agent = PolicyScope::enter(policy);
  const auto first = PolicyScope::enter({}, {.sub_agent = true});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->policy().recursion_limit, 1u);
  // A tool of the same agent costs nothing.
  const auto tool = PolicyScope::enter({});
  EXPECT_EQ(tool->policy().recursion_limit, 1u);
  const auto second = PolicyScope::enter({}, {.sub_agent = true});
  ASSERT_TRUE(second);
  const auto third = PolicyScope::enter({}, {.sub_agent = true});
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, ErrorCode::refused);
  EXPECT_EQ(*PolicyScope::current(), second->policy());
}

TEST(PolicyForCall, PromotionAlwaysDemotionWhereTheOperatorAllows) {
  Policy strict;
  strict.sandbox_profile = Profile::os_hardened;
  EXPECT_EQ(policy_for_call({}, Profile::os_hardened)->profile(), Profile::os_hardened);
  EXPECT_EQ(policy_for_call(strict, Profile::worktree).error().code, ErrorCode::refused);
  EXPECT_EQ(policy_for_call(strict, std::nullopt)->profile(), Profile::os_hardened);
  {
    const auto scope = PolicyScope::enter(strict, {.allow_demotion = true});
    EXPECT_EQ(policy_for_call({}, Profile::worktree)->profile(), Profile::worktree);
    // Handed on to code that was not trusted with it, it is gone for good.
    const auto tool = PolicyScope::enter({});
    const auto deeper = PolicyScope::enter({}, {.allow_demotion = true});
    EXPECT_EQ(policy_for_call({}, Profile::worktree).error().code, ErrorCode::refused);
  }
}

TEST(PolicyForCall, LimitsOnlyShrink) {
  Policy policy;
  policy.limits.wall_time = 10s;
  policy.limits.max_processes = 8;
  const auto out = policy_for_call(policy, std::nullopt, {.max_processes = 64, .wall_time = 2s});
  EXPECT_EQ(out->limits.wall_time, 2s);
  EXPECT_EQ(out->limits.max_processes, 8u);
}

}  // namespace
}  // namespace harn

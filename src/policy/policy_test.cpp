// SPDX-License-Identifier: Apache-2.0
#include "harn/policy.h"

#include <gtest/gtest.h>

#include "policy/hosts.h"

namespace harn {
namespace {

AbsPath p(std::string_view text) { return AbsPath::of(text); }

TEST(Policy, UnsetMembersHaveTheirDocumentedMeaning) {
  const Policy policy;
  EXPECT_EQ(policy.profile(), Profile::worktree);
  EXPECT_EQ(policy.level(), SideEffectLevel::process_exec);
  EXPECT_EQ(policy.effective_capabilities(), Capabilities::all());
  EXPECT_EQ(policy.effective_presets().size(), 4u);
  EXPECT_EQ(policy.effective_network(), Network{});
  EXPECT_FALSE(policy.exposes_package_tokens());
  EXPECT_TRUE(policy.may_read() && policy.may_write() && policy.may_delete() && policy.may_exec());
}

TEST(Policy, UnsetEmptyAndEverythingAreThreeValues) {
  Policy unset, empty, every;
  empty.capabilities = Capabilities{};
  every.capabilities = Capabilities::all();
  EXPECT_TRUE(unset.may_exec());
  EXPECT_FALSE(empty.may_exec() || empty.may_read() || empty.may_write() || empty.may_delete());
  EXPECT_TRUE(every.may_exec());
  EXPECT_NE(digest(unset), digest(empty));
  EXPECT_EQ(digest(unset), digest(every));

  Policy no_presets, all_presets;
  no_presets.process_sandbox.presets = std::set<Preset>{};
  all_presets.process_sandbox.presets = unset.effective_presets();
  EXPECT_NE(digest(unset), digest(no_presets));
  EXPECT_NE(digest(unset), digest(all_presets)) << "naming package_manager_config also opens its tokens";
  EXPECT_TRUE(all_presets.exposes_package_tokens());
}

TEST(Policy, AnEmptyListHasTheMeaningAndDigestOfAnUnsetOne) {
  Policy empty;
  empty.read_only_roots.emplace();
  empty.unprotect.emplace();
  empty.process_sandbox.read_roots.emplace();
  empty.process_sandbox.write_roots.emplace();
  empty.process_sandbox.unix_sockets.emplace();
  empty.process_sandbox.credentials.emplace();
  empty.env.passthrough.emplace();
  empty.env.mode = EnvMode::inherit;
  EXPECT_NE(empty, Policy{});
  EXPECT_EQ(canonical(empty), Policy{});
  EXPECT_EQ(digest(empty), digest(Policy{}));
  EXPECT_EQ(intersect(empty, Policy{}).narrowing, Narrowing{});
  EXPECT_TRUE(within(empty, Policy{}).empty() && within(Policy{}, empty).empty());
}

TEST(Policy, LevelsBoundCapabilities) {
  Policy policy;
  policy.side_effect_level = SideEffectLevel::none;
  EXPECT_FALSE(policy.may_read());
  policy.side_effect_level = SideEffectLevel::read_only;
  EXPECT_TRUE(policy.may_read());
  EXPECT_FALSE(policy.may_write() || policy.may_delete());
  policy.side_effect_level = SideEffectLevel::workspace_write;
  EXPECT_TRUE(policy.may_write() && policy.may_delete());
  EXPECT_FALSE(policy.may_exec());
}

TEST(Policy, CanonicalDropsWhatSaysNothing) {
  Policy policy;
  policy.sandbox_profile = Profile::worktree;
  policy.side_effect_level = SideEffectLevel::process_exec;
  policy.workspace_roots = {p("/w"), p("/w"), p("/v")};
  policy.read_only_roots = {p("/w/a"), p("/w/a/b"), p("/r/x"), p("/r")};
  policy.process_sandbox.read_roots = {p("/r/y")};
  policy.process_sandbox.read_deny_roots = {p("/d/e"), p("/d")};
  policy.network = Network{};
  Policy want;
  want.workspace_roots = {p("/v"), p("/w")};
  want.read_only_roots = {p("/r"), p("/w/a")};
  want.process_sandbox.read_deny_roots = {p("/d")};
  EXPECT_EQ(canonical(policy), want);
}

TEST(Policy, ANestedWritableRootKeepsItsProtectedNames) {
  Policy policy;
  policy.workspace_roots = {p("/w"), p("/w/sub")};
  EXPECT_EQ(canonical(policy).workspace_roots, policy.workspace_roots);
}

TEST(Policy, ValidateNamesBothSidesOfANetworkContradiction) {
  Policy policy;
  policy.network = Network{.allowed_hosts = {*policy::parse_host_rule("example.org")}};
  EXPECT_EQ(validate(policy).error().message, "network.allowed_hosts names 'example.org' but side_effect_level is 'process_exec'");
  EXPECT_EQ(validate(policy).error().hint, "set side_effect_level = \"network\", or remove the network grant");
  policy.network = Network{.mode = NetworkMode::unrestricted};
  EXPECT_EQ(validate(policy).error().message, "network.mode is 'unrestricted' but side_effect_level is 'process_exec'");
  policy.side_effect_level = SideEffectLevel::network;
  EXPECT_TRUE(validate(policy));
  policy.network->allowed_hosts = {*policy::parse_host_rule("example.org")};
  EXPECT_EQ(validate(policy).error().where, "network.allowed_hosts");
}

TEST(Policy, NestedRunsUseUpTheRecursionLimit) {
  Policy policy;
  EXPECT_EQ(for_nested_run(policy)->recursion_limit, std::nullopt);
  policy.recursion_limit = 2;
  EXPECT_EQ(for_nested_run(policy)->recursion_limit, 1u);
  policy.recursion_limit = 0;
  EXPECT_EQ(for_nested_run(policy).error().code, ErrorCode::refused);
}

TEST(Policy, TheProjectRootReplacesOnlyAnUnsetWorkspace) {
  EXPECT_EQ(with_project_root({}, p("/w")).workspace_roots, std::vector{p("/w")});
  Policy empty;
  empty.workspace_roots = std::vector<AbsPath>{};
  EXPECT_EQ(with_project_root(empty, p("/w")).workspace_roots, std::vector<AbsPath>{});
}

TEST(Policy, DigestsLookLikeDigests) {
  const auto text = digest(Policy{});
  EXPECT_EQ(text.substr(0, 7), "policy-");
  EXPECT_EQ(text.size(), 7u + 24u);
}

}  // namespace
}  // namespace harn

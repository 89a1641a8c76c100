// SPDX-License-Identifier: Apache-2.0
#include "harn/layering.h"

#include <gtest/gtest.h>

namespace harn {
namespace {

const AbsPath root = AbsPath::of("/w/project");

std::vector<AbsPath> paths(std::initializer_list<std::string_view> texts) {
  std::vector<AbsPath> out;
  for (const auto text : texts) out.push_back(AbsPath::of(text));
  return out;
}

PolicyLayers layers_of(std::optional<Policy> user, std::optional<Policy> project = {}, std::optional<Policy> flags = {}) {
  return {.system_ceiling = {},
          .user = std::move(user),
          .project = std::move(project),
          .flags = std::move(flags),
          .project_digest = "d1",
          .trusted_digests = {},
          .project_root = root,
          .home = AbsPath::of("/home/me")};
}

Composed composed(const PolicyLayers& layers) {
  const auto result = compose_layers(layers);
  EXPECT_TRUE(result) << (result ? "" : describe(result.error()));
  return result.value_or(Composed{});
}

Policy policy_with(void (*change)(Policy&)) {
  Policy policy;
  change(policy);
  return policy;
}

Policy with_network(std::vector<HostRule> hosts) {
  Policy policy;
  policy.side_effect_level = SideEffectLevel::network;
  policy.network = Network{.allowed_hosts = std::move(hosts)};
  return policy;
}

TEST(Layering, WithoutLayersTheProjectRootIsTheWorkspace) {
  Policy expected;
  expected.workspace_roots = paths({"/w/project"});
  EXPECT_EQ(composed(layers_of({})), (Composed{.policy = expected}));
}

TEST(Layering, UserConfigReplacesDefaultsMemberByMember) {
  Policy user = with_network({{"a.org", {}}});
  user.sandbox_profile = Profile::os_hardened;
  user.read_only_roots = paths({"/data"});
  user.limits.max_memory_mb = 512;
  Policy expected = user;
  expected.workspace_roots = paths({"/w/project"});
  EXPECT_EQ(composed(layers_of(user)).policy, expected);
}

TEST(Layering, AProjectFileNarrowsAndTheReportSaysWhat) {
  Policy user = with_network({{"*.a.org", {}}});
  user.limits.max_memory_mb = 512;
  Policy project;
  project.network = Network{.allowed_hosts = {{"x.a.org", 443}}};
  project.limits.max_memory_mb = 256;
  project.workspace_roots = paths({"/w/project/src"});
  project.blocked_commands = {"curl"};
  const Composed result = composed(layers_of(user, project));
  Policy expected = with_network({{"x.a.org", 443}});
  expected.limits.max_memory_mb = 256;
  expected.workspace_roots = paths({"/w/project/src"});
  expected.blocked_commands = {"curl"};
  EXPECT_EQ(result.policy, expected);
  EXPECT_TRUE(result.trusted.empty());
  EXPECT_TRUE(result.narrowing.empty());
  std::set<std::string> members;
  for (const NarrowingItem& item : result.project_narrowing) members.insert(item.member);
  EXPECT_EQ(members, (std::set<std::string>{"blocked_commands", "limits.max_memory_mb", "network.allowed_hosts", "workspace_roots"}));
}

TEST(Layering, ASilentProjectFileChangesNothing) {
  Policy user = with_network({{"a.org", {}}});
  user.sandbox_profile = Profile::unrestricted;
  user.env.passthrough = std::set<std::string>{"GH_TOKEN"};
  user.process_sandbox.presets = {Preset::package_manager_config};
  EXPECT_EQ(composed(layers_of(user, Policy{})).policy, composed(layers_of(user)).policy);
}

TEST(Layering, AnUntrustedProjectFileThatWidensIsRefusedByName) {
  Policy user;
  user.limits.max_memory_mb = 512;
  Policy project = with_network({});
  project.network->mode = NetworkMode::unrestricted;
  project.limits.max_memory_mb = 1024;
  project.sandbox_profile = Profile::unrestricted;
  const auto result = compose_layers(layers_of(user, project));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(),
            (Error{.code = ErrorCode::refused,
                   .stage = Stage::compose,
                   .message = "the project file asks for more than you allow: sandbox_profile unrestricted (allowed: worktree); "
                              "side_effect_level network (allowed: process_exec); network.mode unrestricted (allowed: limited); "
                              "limits.max_memory_mb 1024 (allowed: 512)",
                   .hint = "run 'harn trust' to accept this file as it is, or remove what it adds"}));
}

TEST(Layering, EveryWayToWidenIsNoticed) {
  struct Case {
    std::string_view member = {};
    void (*widen)(Policy&) = nullptr;
  };
  const std::vector<Case> cases = {
      {"sandbox_profile", [](Policy& p) { p.sandbox_profile = Profile::unrestricted; }},
      {"side_effect_level", [](Policy& p) { p.side_effect_level = SideEffectLevel::network; }},
      {"capabilities.workspace", [](Policy& p) { p.capabilities = Capabilities::all(); }},
      {"workspace_roots", [](Policy& p) { p.workspace_roots = {AbsPath::of("/w")}; }},
      {"read_only_roots", [](Policy& p) { p.read_only_roots = {AbsPath::of("/data2")}; }},
      {"process_sandbox.presets", [](Policy& p) { p.process_sandbox.presets = {Preset::system_runtime, Preset::user_temp}; }},
      {"process_sandbox.read_roots", [](Policy& p) { p.process_sandbox.read_roots = {AbsPath::of("/opt/x")}; }},
      {"process_sandbox.write_roots", [](Policy& p) { p.process_sandbox.write_roots = {AbsPath::of("/opt/x")}; }},
      {"process_sandbox.unix_sockets", [](Policy& p) { p.process_sandbox.unix_sockets = {{AbsPath::of("/run/x.sock"), true}}; }},
      {"process_sandbox.credentials", [](Policy& p) { p.process_sandbox.credentials = {AbsPath::of("/home/me/.netrc")}; }},
      {"network.loopback", [](Policy& p) { p.network = Network{.loopback = true}; }},
      {"limits.max_processes", [](Policy& p) { p.limits.max_processes = 99; }},
      {"limits.wall_time", [](Policy& p) { p.limits.wall_time = std::chrono::milliseconds(99); }},
      {"env.passthrough", [](Policy& p) { p.env.passthrough = std::set<std::string>{"GH_TOKEN"}; }},
      {"recursion_limit", [](Policy& p) { p.recursion_limit = 9; }},
  };
  const Policy user = policy_with([](Policy& p) {
    p.capabilities = Capabilities{.workspace = {WorkspaceOp::read_text, WorkspaceOp::write_text}, .process = {ProcessOp::exec}};
    p.process_sandbox.presets = {Preset::system_runtime};
    p.read_only_roots = {AbsPath::of("/data")};
    p.limits.max_processes = 9;
    p.limits.wall_time = std::chrono::milliseconds(9);
    p.recursion_limit = 1;
  });
  for (const auto& [member, widen] : cases) {
    PolicyLayers layers = layers_of(user, policy_with(widen));
    const auto widenings = project_widenings(layers);
    ASSERT_EQ(widenings.size(), 1u) << member;
    EXPECT_EQ(widenings.front().member, member);
    const auto refused = compose_layers(layers);
    ASSERT_FALSE(refused) << member;
    EXPECT_EQ(refused.error().code, ErrorCode::refused);
    layers.trusted_digests = {"d1"};
    EXPECT_EQ(composed(layers).trusted, widenings) << member;
  }
}

TEST(Layering, TrustFollowsTheDigest) {
  Policy project;
  project.read_only_roots = paths({"/data"});
  PolicyLayers layers = layers_of({}, project);
  layers.trusted_digests = {"d0"};
  EXPECT_FALSE(compose_layers(layers));
  layers.trusted_digests = {"d0", "d1"};
  EXPECT_EQ(composed(layers).policy.read_only_roots, paths({"/data"}));
  layers.project_digest = "";
  layers.trusted_digests = {""};
  EXPECT_FALSE(compose_layers(layers)) << "a file without digest is never trusted";
}

TEST(Layering, NoProjectFileMayUnprotectTrustedOrNot) {
  Policy project;
  project.unprotect = paths({"/w/project/.git/hooks"});
  PolicyLayers layers = layers_of({}, project);
  layers.trusted_digests = {"d1"};
  const auto result = compose_layers(layers);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), (Error{.code = ErrorCode::refused,
                                   .stage = Stage::compose,
                                   .message = "the project file may not unprotect '/w/project/.git/hooks'",
                                   .hint = "only the operator can, with --unprotect or in the user config"}));
}

TEST(Layering, FlagsWidenBeyondUserAndProject) {
  Policy user;
  user.read_only_roots = paths({"/data"});
  user.env.passthrough = std::set<std::string>{"A_TOKEN"};
  user.network = Network{.blocked_ports = {25}};
  Policy project;
  project.limits.max_memory_mb = 128;
  project.env.set = {{"A", "project"}, {"B", "project"}};
  Policy flags = with_network({{"a.org", {}}});
  flags.network->blocked_ports = {22};
  flags.read_only_roots = paths({"/more"});
  flags.limits.max_memory_mb = 4096;
  flags.env = {
      .mode = EnvMode::patch, .set = {{"A", "flags"}}, .remove = {"C"}, .passthrough = std::set<std::string>{"B_TOKEN"}, .strip = {"D"}};
  flags.unprotect = paths({"/w/project/.envrc"});
  flags.workspace_roots = paths({"/w/project", "/other"});
  const Composed result = composed(layers_of(user, project, flags));
  Policy expected = flags;
  expected.read_only_roots = paths({"/data", "/more"});
  expected.network->blocked_ports = {22, 25};
  expected.env.set = {{"A", "flags"}, {"B", "project"}};
  expected.env.passthrough = std::set<std::string>{"A_TOKEN", "B_TOKEN"};
  EXPECT_EQ(result.policy, canonical(expected));
}

TEST(Layering, AFlagThatLowersTheLevelSilencesTheHostsBeneath) {
  const Policy user = with_network({{"a.org", {}}});
  Policy flags;
  flags.side_effect_level = SideEffectLevel::process_exec;
  Policy expected;
  expected.workspace_roots = paths({"/w/project"});
  EXPECT_EQ(composed(layers_of(user, {}, flags)).policy, expected);
}

TEST(Layering, HostsBelowTheNetworkLevelStayAnError) {
  Policy flags;
  flags.network = Network{.allowed_hosts = {{"a.org", {}}}};
  const auto result = compose_layers(layers_of({}, {}, flags));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::invalid_policy);
}

TEST(Layering, TheCeilingIsMetLastAndReportsWhatItTook) {
  PolicyLayers layers = layers_of({}, {}, with_network({{"a.org", {}}, {"b.org", {}}}));
  layers.flags->workspace_roots = paths({"/w/project/src", "/other"});
  layers.flags->limits.max_memory_mb = 4096;
  Policy ceiling = with_network({{"a.org", 443}});
  ceiling.limits.max_memory_mb = 1024;
  layers.system_ceiling = ceiling;
  const Composed result = composed(layers);
  Policy expected = with_network({{"a.org", 443}});
  expected.limits.max_memory_mb = 1024;
  expected.workspace_roots = paths({"/w/project/src"});
  EXPECT_EQ(result.policy, expected);
  EXPECT_EQ(result.narrowing, (Narrowing{{"limits.max_memory_mb", "4096", "1024", Side::requested},
                                         {"network.allowed_hosts", "a.org", "", Side::requested},
                                         {"network.allowed_hosts", "b.org", "", Side::requested},
                                         {"workspace_roots", "/other", "", Side::requested}}));
}

TEST(Layering, ATrustedProjectFileStillEndsAtTheCeiling) {
  Policy project;
  project.read_only_roots = paths({"/data"});
  PolicyLayers layers = layers_of({}, project);
  layers.trusted_digests = {"d1"};
  layers.system_ceiling = Policy{};
  const Composed result = composed(layers);
  EXPECT_EQ(result.policy.read_only_roots, std::nullopt);
  EXPECT_EQ(result.narrowing, (Narrowing{{"read_only_roots", "/data", "", Side::requested}}));
}

TEST(Layering, ReadOnlyPathsInsideTheWorkspaceSurviveAProjectsOwnList) {
  Policy user;
  user.read_only_roots = paths({"/data", "/w/project/keep"});
  Policy project;
  project.read_only_roots = paths({"/data/part", "/w/project/vendor"});
  EXPECT_EQ(composed(layers_of(user, project)).policy.read_only_roots, paths({"/data/part", "/w/project/keep", "/w/project/vendor"}));
}

TEST(Layering, NamingPresetsAlsoSettlesTheTokens) {
  Policy user;
  user.process_sandbox.presets = {Preset::package_manager_config, Preset::system_runtime};
  Policy flags;
  flags.process_sandbox.package_tokens = false;
  EXPECT_TRUE(composed(layers_of(user)).policy.exposes_package_tokens());
  EXPECT_FALSE(composed(layers_of(user, {}, flags)).policy.exposes_package_tokens());
  Policy again;
  again.process_sandbox.presets = {Preset::package_manager_config};
  Policy quiet = user;
  quiet.process_sandbox.package_tokens = false;
  EXPECT_TRUE(composed(layers_of(quiet, {}, again)).policy.exposes_package_tokens());
}

// Every list that grants something, with one entry and empty.
struct GrantList {
  std::string_view member = {};
  void (*fill)(Policy&) = nullptr;
  void (*empty)(Policy&) = nullptr;
};
constexpr GrantList grant_lists[] = {
    {"read_only_roots", [](Policy& p) { p.read_only_roots = paths({"/data"}); }, [](Policy& p) { p.read_only_roots.emplace(); }},
    {"unprotect", [](Policy& p) { p.unprotect = paths({"/w/project/.envrc"}); }, [](Policy& p) { p.unprotect.emplace(); }},
    {"process_sandbox.read_roots", [](Policy& p) { p.process_sandbox.read_roots = paths({"/opt/x"}); },
     [](Policy& p) { p.process_sandbox.read_roots.emplace(); }},
    {"process_sandbox.write_roots", [](Policy& p) { p.process_sandbox.write_roots = paths({"/opt/x"}); },
     [](Policy& p) { p.process_sandbox.write_roots.emplace(); }},
    {"process_sandbox.unix_sockets", [](Policy& p) { p.process_sandbox.unix_sockets = {{AbsPath::of("/run/x.sock"), false}}; },
     [](Policy& p) { p.process_sandbox.unix_sockets.emplace(); }},
    {"process_sandbox.credentials", [](Policy& p) { p.process_sandbox.credentials = paths({"/home/me/.netrc"}); },
     [](Policy& p) { p.process_sandbox.credentials.emplace(); }},
    {"env.passthrough", [](Policy& p) { p.env.passthrough = {"GH_TOKEN"}; }, [](Policy& p) { p.env.passthrough.emplace(); }},
};

TEST(Layering, AnEmptyListReplacesAnUnsetOneDoesNot) {
  const Policy bare = composed(layers_of({})).policy;
  for (const auto& [member, fill, empty] : grant_lists) {
    const Policy user = policy_with(fill);
    const Policy granted = composed(layers_of(user)).policy;
    ASSERT_NE(granted, bare) << member;
    EXPECT_EQ(composed(layers_of(user, Policy{}, Policy{})).policy, granted) << member;

    const Composed emptied = composed(layers_of(user, policy_with(empty)));
    EXPECT_EQ(emptied.policy, bare) << member;
    ASSERT_EQ(emptied.project_narrowing.size(), 1u) << member;
    EXPECT_EQ(emptied.project_narrowing.front().member, member);
    EXPECT_EQ(composed(layers_of(user, {}, policy_with(empty))).policy, bare) << member;
  }
}

TEST(Layering, AnEmptyListKeepsWhatOnlyTakesAway) {
  Policy user;
  user.read_only_roots = paths({"/data", "/w/project/keep"});
  user.process_sandbox.read_deny_roots = paths({"/w/project/secret"});
  user.env.strip = {"X_*"};
  Policy project;
  project.read_only_roots.emplace();
  Policy expected = user;
  expected.workspace_roots = paths({"/w/project"});
  expected.read_only_roots = paths({"/w/project/keep"});
  EXPECT_EQ(composed(layers_of(user, project)).policy, expected);
}

TEST(Layering, TheEnvironmentModeIsReplacedByWhoeverNamesIt) {
  Policy user;
  user.env.mode = EnvMode::replace;
  Policy named;
  named.env.mode = EnvMode::inherit;
  EXPECT_EQ(composed(layers_of(user, Policy{}, Policy{})).policy.env.mode, EnvMode::replace);
  EXPECT_EQ(composed(layers_of(user, {}, named)).policy.env.mode, std::nullopt);
  EXPECT_EQ(project_widenings(layers_of(user, named)), (std::vector<Widening>{{"env.mode", "replace", "inherit"}}));
}

TEST(Layering, TheWholeHomeOrFileSystemIsAWorkspaceOnlyByFlag) {
  PolicyLayers layers = layers_of({});
  layers.project_root = AbsPath::of("/home/me");
  auto result = compose_layers(layers);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), (Error{.code = ErrorCode::refused,
                                   .stage = Stage::compose,
                                   .message = "the workspace would be '/home/me', your whole home directory",
                                   .hint = "run inside a project, or name it with --write /home/me"}));
  Policy user;
  user.workspace_roots = paths({"/"});
  result = compose_layers(layers_of(user));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "the workspace would be '/', the whole file system");
  layers.flags = Policy{};
  layers.flags->workspace_roots = paths({"/home/me"});
  EXPECT_EQ(composed(layers).policy.workspace_roots, paths({"/home/me"}));
}

}  // namespace
}  // namespace harn

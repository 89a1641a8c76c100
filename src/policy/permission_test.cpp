// SPDX-License-Identifier: Apache-2.0
#include "harn/permission.h"

#include <gtest/gtest.h>

#include "policy/read_permission.h"

namespace harn {
namespace {

const AbsPath project = AbsPath::of("/w/project");
const TextContext context{.home = AbsPath::of("/home/m[e]"), .file_name = "permission.json"};
using Remainders = std::vector<PermissionRemainder>;

std::set<WorkspaceOp> reading() { return {WorkspaceOp::read_text, WorkspaceOp::list, WorkspaceOp::exists}; }
std::set<WorkspaceOp> writing() { return {WorkspaceOp::write_text, WorkspaceOp::delete_}; }
std::vector<AbsPath> paths(std::initializer_list<std::string_view> texts) {
  std::vector<AbsPath> out;
  for (const auto text : texts) out.push_back(AbsPath::of(text));
  return out;
}

LoweredPermission lowered(const PermissionPolicy& permission) {
  const auto result = lower_permission(permission, project);
  EXPECT_TRUE(result) << (result ? "" : describe(result.error()));
  return result.value_or(LoweredPermission{});
}

TEST(Permission, TheEmptyPolicyLowersToNothingAllowed) {
  Policy nothing;
  nothing.side_effect_level = SideEffectLevel::none;
  nothing.capabilities = Capabilities{};
  nothing.workspace_roots.emplace();
  nothing.read_only_roots.emplace();
  nothing.process_sandbox.presets = std::set<Preset>{};
  nothing.network = Network{};
  EXPECT_EQ(lowered({}), (LoweredPermission{.policy = nothing, .remainders = {}}));
}

TEST(Permission, LocalDevLowersToTheProjectWithoutNetwork) {
  Policy expected;
  expected.side_effect_level = SideEffectLevel::process_exec;
  expected.capabilities = Capabilities::all();
  expected.workspace_roots = paths({"/w/project"});
  expected.read_only_roots.emplace();
  expected.network = Network{};
  EXPECT_EQ(lowered(PermissionPolicy::local_dev()), (LoweredPermission{.policy = expected, .remainders = {}}));
}

TEST(Permission, EveryAxisRaisesTheLevelAndItsOwnCapabilities) {
  struct Case {
    PermissionPolicy permission = {};
    SideEffectLevel level = SideEffectLevel::none;
    Capabilities held = {};
  };
  Capabilities both{.workspace = reading(), .process = {}};
  both.workspace.merge(writing());
  const std::vector<Case> cases = {
      {{.read = {"**"}}, SideEffectLevel::read_only, {.workspace = reading(), .process = {}}},
      {{.write = {"**"}}, SideEffectLevel::workspace_write, {.workspace = writing(), .process = {}}},
      {{.read = {"**"}, .write = {"**"}}, SideEffectLevel::workspace_write, both},
      {{.exec = {"**"}}, SideEffectLevel::process_exec, {.workspace = {}, .process = {ProcessOp::exec}}},
      {{.net = {"a.org"}}, SideEffectLevel::network, {}},
  };
  for (const auto& [permission, level, held] : cases) {
    const Policy policy = lowered(permission).policy;
    EXPECT_EQ(policy.level(), level);
    EXPECT_EQ(policy.capabilities, held);
    EXPECT_EQ(policy.process_sandbox.presets.has_value(), permission.exec.empty());
  }
}

TEST(Permission, GlobsBecomeGrantsOnTheirLiteralPrefix) {
  struct Case {
    PermissionPolicy permission = {};
    std::vector<AbsPath> workspace = {};
    std::vector<AbsPath> read_only = {};
  };
  const std::vector<Case> cases = {
      {{.read = {"src/**", "/usr/include/**", "README.md"}}, {}, paths({"/usr/include", "/w/project/README.md", "/w/project/src"})},
      {{.read = {"**", "src/**"}}, {}, paths({"/w/project"})},
      {{.read = {"**"}, .write = {"build/**"}}, paths({"/w/project/build"}), paths({"/w/project"})},
      {{.read = {"src/**"}, .write = {"**"}}, paths({"/w/project"}), {}},
      {{.read = {"build-x/**"}, .write = {"build/**"}}, paths({"/w/project/build"}), paths({"/w/project/build-x"})},
      {{.read = {"{a,b/c}/**"}}, {}, paths({"/w/project/a", "/w/project/b/c"})},
      {{.read = {"C:/tools/**"}}, {}, paths({"C:/tools"})},
      {{.read = {"/**"}}, {}, paths({"/"})},
  };
  for (const auto& [permission, workspace, read_only] : cases) {
    const Policy policy = lowered(permission).policy;
    EXPECT_EQ(policy.workspace_roots, workspace);
    EXPECT_EQ(policy.read_only_roots, read_only);
  }
}

TEST(Permission, ReportsEveryPatternThatIsGrantedWider) {
  const PermissionPolicy permission{.read = {"src/*.c", "src/*.c", "docs/**"}, .write = {"out/**/*.o"}, .exec = {"git", "**"}, .net = {}};
  const std::string beneath = "everything beneath '/w/project/";
  EXPECT_EQ(lowered(permission).remainders,
            (Remainders{{"exec", "git", "", "every program a command can read it can also run; commands are no boundary"},
                        {"read", "src/*.c", "/w/project/src", beneath + "src' is granted, not only what matches '*.c'"},
                        {"write", "out/**/*.o", "/w/project/out", "a command may also read what it may write"},
                        {"write", "out/**/*.o", "/w/project/out", beneath + "out' is granted, not only what matches '**/*.o'"}}));
}

TEST(Permission, NetBecomesHostRulesOrEverything) {
  const auto network_of = [](std::vector<std::string> net) { return lowered({.net = std::move(net)}).policy.network; };
  EXPECT_EQ(network_of({"*"}), (Network{.mode = NetworkMode::unrestricted}));
  EXPECT_EQ(network_of({"a.org", "**"}), (Network{.mode = NetworkMode::unrestricted}));
  EXPECT_EQ(network_of({"https://b.org/", "*.x.org", "a.x.org"}), (Network{.allowed_hosts = {{"*.x.org", {}}, {"b.org", 443}}}));
}

TEST(Permission, LoweringRefusesPatternsThatMeanNothing) {
  for (const PermissionPolicy& permission : std::vector<PermissionPolicy>{{.read = {"a["}}, {.write = {"a["}}, {.exec = {"a["}}})
    EXPECT_EQ(lower_permission(permission, project).error().message, "the glob 'a[' has an unclosed '[' at character 2");
  EXPECT_EQ(lower_permission({.net = {"127.1"}}, project).error().message, "the host '127.1' is not an IPv4 address in its canonical form");
}

TEST(Permission, ReadsJsonAndTomlIntoTheSameValue) {
  const PermissionPolicy expected{
      .read = {"src/**", "/home/m\\[e\\]/notes/**", "/home/m\\[e\\]"}, .write = {}, .exec = {"**"}, .net = {"*", "example.org:443"}};
  const auto json = permission_from_json(
      R"({"read": ["src/**", "~/notes/**", "$HOME"], "write": [], "exec": ["**"], "net": ["*", "https://Example.org"]})", context);
  ASSERT_TRUE(json) << describe(json.error());
  EXPECT_EQ(*json, expected);
  const auto toml =
      permission_from_toml("read = ['src/**', '~/notes/**', '$HOME']\nexec = ['**']\nnet = ['*', 'https://Example.org']\n", context);
  ASSERT_TRUE(toml) << describe(toml.error());
  EXPECT_EQ(*toml, expected);
  const auto again = permission_from_json(permission_to_json(expected), context);
  ASSERT_TRUE(again) << describe(again.error());
  EXPECT_EQ(*again, expected);
  EXPECT_EQ(permission_from_json("{}", context), PermissionPolicy{});
}

TEST(Permission, RefusesBadTextWithItsPlace) {
  struct Case {
    std::string_view text = {};
    std::string error = {};
  };
  const std::vector<Case> cases = {
      {R"(["read"])", "permission.json:1:1#: the policy must be an object, found a list"},
      {R"({"reads": []})", "permission.json:1:2#/reads: unknown member 'reads' (did you mean 'read'?)"},
      {R"({"llm": []})", "permission.json:1:2#/llm: unknown member 'llm' (valid members are: read, write, exec, net)"},
      {R"({"read": "**"})", "permission.json:1:10#/read: 'read' must be a list of globs, found the string '**'"},
      {R"({"net": [1]})", "permission.json:1:10#/net/0: 'net[0]' must be a host, found 1"},
      {R"({"exec": [1]})", "permission.json:1:11#/exec/0: 'exec[0]' must be a glob, found 1"},
      {R"({"read": ["a", "b["]})",
       "permission.json:1:16#/read/1: 'read[1]': the glob 'b[' has an unclosed '[' at character 2 (close it with ']' or write '\\[')"},
      {R"({"net": ["*.com"]})",
       "permission.json:1:10#/net/0: 'net[0]': the host '*.com' would admit every name under 'com' (name at least two labels, for example "
       "'*.example.com')"},
  };
  for (const auto& [text, error] : cases) {
    const auto permission = permission_from_json(text, context);
    ASSERT_FALSE(permission) << text;
    EXPECT_EQ(describe(permission.error()), error);
    EXPECT_EQ(permission.error().code, ErrorCode::invalid_policy);
  }
}

TEST(Permission, RefusesUnfinishedTextAndAnUnknownHome) {
  EXPECT_EQ(permission_from_json("{", context).error().code, ErrorCode::invalid_policy);
  EXPECT_EQ(permission_from_toml("read = [", context).error().code, ErrorCode::invalid_policy);
  const auto homeless = permission_from_json(R"({"read": ["~/x"]})", {.home = {}, .file_name = "p.json"});
  ASSERT_FALSE(homeless);
  EXPECT_EQ(describe(homeless.error()),
            "p.json:1:11#/read/0: 'read[0]' names the home directory, but none is known (write the absolute path)");
}

TEST(Permission, DigestFollowsMeaningNotOrder) {
  const PermissionPolicy a{.read = {"a", "b", "a"}, .write = {}, .exec = {}, .net = {}};
  const PermissionPolicy b{.read = {"b", "a"}, .write = {}, .exec = {}, .net = {}};
  const PermissionPolicy c{.read = {}, .write = {"b", "a"}, .exec = {}, .net = {}};
  EXPECT_EQ(digest(a), digest(b));
  EXPECT_NE(digest(a), digest(c));
  // SHA-256 of {"exec":[],"net":[],"read":[],"write":[]}.
  EXPECT_EQ(digest(PermissionPolicy{}), "policy-7afa27e3571654a890f8a2fa");
}

}  // namespace
}  // namespace harn

// SPDX-License-Identifier: Apache-2.0
#include "learn/compose.h"

#include <gtest/gtest.h>

#include "harn/policy_text.h"
#include "learn/learned_text.h"
#include "learn/unused.h"

namespace harn::learn {
namespace {

AbsPath p(std::string_view text) { return AbsPath::of(text); }

class ComposeTest : public testing::Test {
 protected:
  ComposeTest() {
    facts_.home = p("/home/u");
    facts_.cwd = facts_.project_root = p("/w");
    facts_.unlisted = PathKind::directory;
    Policy policy;
    policy.workspace_roots = {{p("/w")}};
    rules_ = PathRules::for_processes(policy, facts_);
  }
  Needs needs() const {
    return Needs({.facts = facts_, .project = p("/w"), .kind_of = [](const AbsPath&) { return PathKind::file; }});
  }
  void worked(Needs& seen, Wanted wanted, std::string path) const {
    seen.take_worked({.call = "openat", .wanted = wanted, .target = std::move(path), .worked = true}, {.rules = rules_, .temp = true});
  }
  void refused(Needs& seen, std::string access, std::string path) const {
    seen.take_denial({.access = std::move(access),
                      .call = "openat",
                      .target = std::move(path),
                      .rule = "no grant covers it",
                      .processes = {"sh[2]", "cat[3]"}},
                     {.rules = rules_, .temp = true});
  }
  Composing composing() const { return {.facts = facts_, .project = p("/w")}; }

  HostFacts facts_;
  PathRules rules_;
};

TEST_F(ComposeTest, WhoOnlyReadsTheProjectGetsNothingToWrite) {
  auto seen = needs();
  worked(seen, Wanted::reading, "/w/a.c");
  worked(seen, Wanted::reading, "/usr/include/stdio.h");
  const auto policy = least_policy(composing(), seen);
  EXPECT_EQ(policy.workspace_roots, std::vector<AbsPath>{});
  EXPECT_EQ(policy.read_only_roots, std::vector<AbsPath>{p("/w")});
  EXPECT_EQ(policy.process_sandbox.presets, std::set<Preset>{Preset::system_runtime});
  EXPECT_FALSE(policy.exposes_package_tokens());
  EXPECT_FALSE(policy.network);
}

TEST_F(ComposeTest, WritesOpenTheDirectoryTheyWereSeenIn) {
  auto seen = needs();
  worked(seen, Wanted::making, "/w/build/a.o");
  refused(seen, "create", "/data/cache/x");
  refused(seen, "read", "/home/u/.config/tool/settings");
  const auto policy = least_policy(composing(), seen);
  EXPECT_EQ(policy.workspace_roots, std::vector<AbsPath>{p("/w/build")});
  EXPECT_EQ(policy.read_only_roots, std::vector<AbsPath>{p("/w")});
  EXPECT_EQ(policy.process_sandbox.write_roots, std::vector<AbsPath>{p("/data/cache")});
  EXPECT_EQ(policy.process_sandbox.read_roots, std::vector<AbsPath>{p("/home/u/.config/tool/settings")});
}

TEST_F(ComposeTest, HostsGetThePortsThatWereUsed) {
  auto seen = needs();
  seen.take_denial({.access = "host", .call = "resolve", .target = "a.org", .rule = "no rule admits it", .remedy = "--allow-host a.org"},
                   {.rules = rules_});
  seen.take_contact({.host = "a.org", .port = 443});
  const auto policy = least_policy(composing(), seen);
  EXPECT_EQ(policy.network->allowed_hosts, (std::vector<HostRule>{{.host = "a.org", .port = 443}}));
  EXPECT_EQ(policy.level(), SideEffectLevel::network);
  EXPECT_TRUE(validate(policy));
}

TEST_F(ComposeTest, AnExistingPolicyKeepsWhatItSays) {
  Policy base;
  base.workspace_roots = {{p("/w")}};
  base.read_only_roots = {{p("/reference")}};
  base.limits.max_processes = 7;
  base.network = Network{.allowed_hosts = {{.host = "b.org"}}};
  base.side_effect_level = SideEffectLevel::network;
  const auto base_rules = PathRules::for_processes(base, facts_);
  auto seen = needs();
  worked(seen, Wanted::making, "/w/x");
  refused(seen, "read", "/data/file");
  auto all = composing();
  all.base = base;
  all.base_rules = &base_rules;
  const auto policy = least_policy(all, seen);
  EXPECT_EQ(policy.limits.max_processes, 7u);
  EXPECT_EQ(policy.read_only_roots, std::vector<AbsPath>{p("/reference")});
  EXPECT_EQ(policy.process_sandbox.read_roots, std::vector<AbsPath>{p("/data/file")});
  EXPECT_FALSE(policy.process_sandbox.presets) << "the defaults it relied on stay";
  const auto unused = unused_grants(base, facts_, seen, [](const AbsPath& path) { return path; });
  EXPECT_EQ(unused, (std::vector<UnusedGrant>{{"read_only_roots", "/reference"}, {"network.allowed_hosts", "b.org"}}));
  const auto pruned = without_unused(policy, unused);
  EXPECT_EQ(pruned.read_only_roots, std::vector<AbsPath>{});
  EXPECT_TRUE(pruned.network->allowed_hosts.empty());
}

TEST_F(ComposeTest, TheTextReadsBackWhateverPathsAreCalled) {
  auto seen = needs();
  refused(seen, "read", "/data/line\nbreak # [x]\"\x1b[31m");
  refused(seen, "read", "/home/u/.ssh/id_rsa");
  const auto policy = least_policy(composing(), seen);
  const auto text = learned_text({.policy = policy, .needs = seen, .provenance = {.command = "sh -c 'a\nb'", .runs = 2, .proved = true}});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  const auto parsed = parse_policy_toml(text, {.home = p("/home/u"), .file_name = "t"});
  ASSERT_TRUE(parsed) << parsed.error().message << text;
  EXPECT_EQ(*parsed, policy);
  EXPECT_NE(text.find("# read /home/u/.ssh"), std::string::npos) << "what was left out is said: " << text;
}

}  // namespace
}  // namespace harn::learn

// SPDX-License-Identifier: Apache-2.0
#include "plan/linux/around_denials.h"

#include <gtest/gtest.h>

#include "policy/names.h"

namespace harn::plan {
namespace {

HostFacts host(std::initializer_list<const char*> directories) {
  HostFacts facts;
  facts.home = AbsPath::of("/home/u");
  for (const auto* path : directories) facts.paths[path] = {.kind = PathKind::directory};
  return facts;
}

void list(HostFacts& facts, const char* directory, std::vector<std::string> entries) {
  facts.paths[directory] = {.kind = PathKind::directory, .entries = std::move(entries)};
}

PathRules rules_for(std::vector<const char*> readable, std::vector<const char*> denied, const HostFacts& facts,
                    std::vector<const char*> writable = {}) {
  Policy policy;
  policy.workspace_roots.emplace();
  policy.process_sandbox.presets.emplace();
  policy.read_only_roots.emplace();
  policy.process_sandbox.write_roots.emplace();
  for (const auto* path : readable) policy.read_only_roots->push_back(AbsPath::of(path));
  for (const auto* path : denied) policy.process_sandbox.read_deny_roots.push_back(AbsPath::of(path));
  for (const auto* path : writable) policy.process_sandbox.write_roots->push_back(AbsPath::of(path));
  return PathRules::for_processes(policy, facts);
}

// "path access" per line; devices and protected names left out.
std::string text_of(const Parts& parts) {
  std::string out;
  for (const auto& rule : parts.rules)
    if (rule.origin != Origin::device && rule.origin != Origin::protected_)
      out += rule.path.text() + " " + std::string(base::enum_name(rule.access)) + "\n";
  for (const auto& path : parts.split) out += "split " + path.text() + "\n";
  return out;
}

TEST(AroundDenials, LeavesRulesWithoutDenialsAlone) {
  const auto facts = host({"/srv", "/opt"});
  const auto rules = rules_for({"/srv", "/opt"}, {}, facts);
  EXPECT_EQ(around_denials(rules, facts), (Parts{.rules = rules.rules()}));
}

TEST(AroundDenials, WhatTheFileItselfClosesNeedsNoSplit) {
  auto facts = host({"/srv"});
  list(facts, "/srv", {"a", "key"});
  facts.paths["/srv/key"] = {.kind = PathKind::file, .locked = true};
  EXPECT_EQ(text_of(around_denials(rules_for({"/srv"}, {"/srv/key"}, facts), facts)), "/srv read\n/srv/key none\n");
  facts.paths["/srv/key"].locked = false;
  EXPECT_EQ(text_of(around_denials(rules_for({"/srv"}, {"/srv/key"}, facts), facts)),
            "/srv none\n/srv/a read\n/srv/key none\nsplit /srv\n");
}

TEST(AroundDenials, GrantsSiblingsAtEveryLevelDownToTheDenial) {
  auto facts = host({"/srv", "/srv/a/key"});
  list(facts, "/srv", {"a", "b", "c"});
  list(facts, "/srv/a", {"key", "x", "y"});
  facts.paths["/srv/b"] = {.kind = PathKind::file};
  const auto parts = around_denials(rules_for({"/srv"}, {"/srv/a/key"}, facts), facts);
  EXPECT_EQ(text_of(parts),
            "/srv none\n"
            "/srv/a/key none\n"
            "/srv/a/x read\n"
            "/srv/a/y read\n"
            "/srv/b read\n"
            "/srv/c read\n"
            "split /srv\n"
            "split /srv/a\n");
  const auto kind_of = [&](const char* path) {
    for (const auto& rule : parts.rules)
      if (rule.path.text() == path) return rule.kind;
    return PathKind::missing;
  };
  EXPECT_EQ(kind_of("/srv/b"), PathKind::file);
  EXPECT_EQ(kind_of("/srv/c"), PathKind::directory);  // nobody looked
}

TEST(AroundDenials, KeepsARegionWholeWhereNobodyListedIt) {
  const auto facts = host({"/srv", "/srv/key"});
  EXPECT_EQ(text_of(around_denials(rules_for({"/srv"}, {"/srv/key"}, facts), facts)), "/srv read\n/srv/key none\n");
}

TEST(AroundDenials, GrantsAnUnlistedDirectoryOnTheWayAsAWhole) {
  auto facts = host({"/srv", "/srv/a/key"});
  list(facts, "/srv", {"a", "b"});
  EXPECT_EQ(text_of(around_denials(rules_for({"/srv"}, {"/srv/a/key"}, facts), facts)),
            "/srv none\n/srv/a read\n/srv/a/key none\n/srv/b read\nsplit /srv\n");
}

TEST(AroundDenials, IgnoresDenialsOfWhatDoesNotExist) {
  auto facts = host({"/srv"});
  list(facts, "/srv", {"a"});
  EXPECT_EQ(text_of(around_denials(rules_for({"/srv"}, {"/srv/key"}, facts), facts)), "/srv read\n/srv/key none\n");
}

TEST(AroundDenials, NeverSplitsAWritableRegionNorWhatLiesInOne) {
  auto facts = host({"/w", "/w/key", "/w/docs", "/w/docs/key"});
  list(facts, "/w", {"key", "docs", "a"});
  list(facts, "/w/docs", {"key", "a"});
  const auto rules = rules_for({"/w/docs"}, {"/w/key", "/w/docs/key"}, facts, {"/w"});
  EXPECT_EQ(around_denials(rules, facts), (Parts{.rules = rules.rules()}));
}

TEST(AroundDenials, PassesLinksDotsAndRulesOfTheirOwn) {
  auto facts = host({"/srv", "/srv/key", "/srv/out", "/srv/key/open"});
  facts.paths["/srv/link"] = {.kind = PathKind::directory, .link_target = AbsPath::of("/root")};
  list(facts, "/srv", {".", "..", "", "a/b", "key", "link", "out", "z"});
  EXPECT_EQ(text_of(around_denials(rules_for({"/srv", "/srv/key/open"}, {"/srv/key"}, facts, {"/srv/out"}), facts)),
            "/srv none\n/srv/key none\n/srv/key/open read\n/srv/out write\n/srv/z read\nsplit /srv\n");
}

TEST(AroundDenials, GivesUpPastTheCap) {
  for (const auto& [count, split] : {std::pair{max_parts, true}, std::pair{max_parts + 1, false}}) {
    auto facts = host({"/srv", "/srv/key"});
    std::vector<std::string> entries = {"key"};
    for (std::size_t i = 0; i < count; ++i) entries.push_back("e" + std::to_string(i));
    list(facts, "/srv", entries);
    const auto rules = rules_for({"/srv"}, {"/srv/key"}, facts);
    const auto parts = around_denials(rules, facts);
    EXPECT_EQ(parts.split.empty(), !split) << count;
    EXPECT_EQ(parts.rules.size(), rules.rules().size() + (split ? count : 0));
  }
}

}  // namespace
}  // namespace harn::plan

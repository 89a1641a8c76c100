// SPDX-License-Identifier: Apache-2.0
#include "run/supervisor/rules.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <random>
#include <string>

#include "run/prepare_supervisor.h"

namespace harn::run::supervisor {
namespace {

std::string block_for(const std::vector<SupervisedPath>& rules) {
  const auto gifts = make_gifts({.rules = rules}, {.arch = "x86_64"}, {});
  EXPECT_TRUE(gifts);
  std::string block(1 << 16, '\0');
  const auto got = ::pread(gifts->rules.get(), block.data(), block.size(), 0);
  block.resize(static_cast<std::size_t>(got));
  return block.substr(sizeof(Duties));  // no call has an answer of its own here
}

const std::vector<SupervisedPath> sample = {{.path = AbsPath::of("/dev/null"), .access = Access::write, .device = true},
                                            {.path = AbsPath::of("/usr"), .access = Access::read},
                                            {.path = AbsPath::of("/w"), .access = Access::write},
                                            {.path = AbsPath::of("/w/.git/config"), .access = Access::read},
                                            {.path = AbsPath::of("/w/deep/denied"), .access = Access::none}};

TEST(SupervisorRules, TheNearestRuleDecides) {
  const auto block = block_for(sample);
  const Rules rules(block.data(), block.size());
  EXPECT_EQ(rules.at("/w"), Allowed::changing);
  EXPECT_EQ(rules.at("/w/a/b"), Allowed::changing);
  EXPECT_EQ(rules.at("/w/.git/config"), Allowed::reading);
  EXPECT_EQ(rules.at("/w/.git/config.lock"), Allowed::changing);
  EXPECT_EQ(rules.at("/w/deep/denied/x"), Allowed::nothing);
  EXPECT_EQ(rules.at("/wider"), Allowed::nothing);
  EXPECT_EQ(rules.at("/dev/null"), Allowed::writing);
  EXPECT_EQ(rules.at("/"), Allowed::nothing);
  EXPECT_EQ(rules.at("pipe:[12]"), Allowed::nothing);
  EXPECT_EQ(rules.at(""), Allowed::nothing);
}

TEST(SupervisorRules, ADirectoryAroundSomethingClosedStays) {
  const auto block = block_for(sample);
  const Rules rules(block.data(), block.size());
  EXPECT_TRUE(rules.closed_beneath("/w"));
  EXPECT_TRUE(rules.closed_beneath("/w/.git"));
  EXPECT_TRUE(rules.closed_beneath("/w/deep"));
  EXPECT_FALSE(rules.closed_beneath("/w/deep/denied"));
  EXPECT_FALSE(rules.closed_beneath("/w/src"));
  EXPECT_FALSE(rules.closed_beneath("/w/.gi"));
}

TEST(SupervisorRules, TheRootContainsEverything) {
  const auto block = block_for({{.path = AbsPath(), .access = Access::read}, {.path = AbsPath::of("/w"), .access = Access::write}});
  const Rules rules(block.data(), block.size());
  EXPECT_EQ(rules.at("/etc/passwd"), Allowed::reading);
  EXPECT_EQ(rules.at("/w/x"), Allowed::changing);
}

// Whatever was broken on the way, nothing is allowed by it that was not before.
TEST(SupervisorRules, ABrokenBlockAllowsNothing) {
  const auto whole = block_for(sample);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto cut = whole.substr(0, size);
    EXPECT_EQ(Rules(cut.data(), cut.size()).at("/w/a"), Allowed::nothing) << size;
  }
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    auto spoiled = whole;
    for (int n = 0; n < 3; ++n) spoiled[random() % spoiled.size()] = static_cast<char>(random());
    const Rules rules(spoiled.data(), spoiled.size());
    (void)rules.at("/w/deep/denied/x");
    (void)rules.closed_beneath("/w");
  }
}

}  // namespace
}  // namespace harn::run::supervisor

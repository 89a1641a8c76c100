// SPDX-License-Identifier: Apache-2.0
#include "sandbox/appeared.h"

#include <unistd.h>

#include <filesystem>

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace harn::sandbox {
namespace {

using test::TempDir;

constexpr uid_t somebody = 65534;

// Root may look everywhere, so the tests about rights are those of an ordinary user.
class AppearedTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::permissions(temp.root(), std::filesystem::perms(0755));
    temp.directory("w/sub");
    if (::geteuid() != 0) return;
    for (const auto* name : {"w", "w/sub"}) ASSERT_EQ(::chown(temp.path(name).text().c_str(), somebody, somebody), 0);
    ASSERT_EQ(::seteuid(somebody), 0);
  }
  void TearDown() override {
    ASSERT_EQ(::seteuid(::getuid()), 0);
    for (const auto* name : {"w", "w/sub"}) mode(name, 0755);
  }

  void mode(const char* name, unsigned bits) { std::filesystem::permissions(temp.path(name).text(), std::filesystem::perms(bits)); }

  NameWatch watch(const std::vector<const char*>& names) {
    Plan plan;
    Gap gap{.dimension = Dimension::writes, .code = "absent_protected_name"};
    for (const auto* name : names) gap.paths.push_back(temp.path(name));
    plan.coverage.gaps.push_back(std::move(gap));
    return NameWatch::before(plan, {temp.path("w")});
  }

  using Names = std::vector<std::string>;
  Names appeared(const NameWatch& watch) {
    Outcome outcome;
    watch.report(outcome);
    return outcome.appeared;
  }

  TempDir temp;
};

TEST_F(AppearedTest, NamesThatExistAfterwardsAreReported) {
  const auto held = watch({"w/.envrc", "w/.vscode", "w/.x/deep/name", "w/.y/deep"});
  EXPECT_EQ(appeared(held), Names{});
  temp.file("w/.envrc");
  temp.file("w/.x/deep/name");
  temp.directory("w/.y");
  EXPECT_EQ(appeared(held), (Names{temp.path("w/.envrc").text(), temp.path("w/.x/deep/name").text()}));
}

TEST_F(AppearedTest, ADirectoryThatWasClosedMeanwhileIsStillRead) {
  const auto held = watch({"w/.envrc", "w/.vscode"});
  temp.file("w/.vscode/tasks.json");
  mode("w", 0);
  EXPECT_EQ(appeared(held), Names{temp.path("w/.vscode").text()});
}

TEST_F(AppearedTest, WhatCannotBeLookedAtCountsAsThere) {
  const auto held = watch({"w/.x/name", "w/.z"});
  temp.directory("w/.x");
  mode("w/.x", 0);
  EXPECT_EQ(appeared(held), Names{temp.path("w/.x/name").text()});
  mode("w/.x", 0755);
}

TEST_F(AppearedTest, ANewRepositoryIsNamedEvenBehindAClosedDirectory) {
  const auto held = watch({});
  temp.directory("w/.git");
  mode("w", 0);
  Outcome outcome;
  held.report(outcome);
  EXPECT_EQ(outcome.created_trusted, Names{temp.path("w").text()});
}

TEST_F(AppearedTest, ARepositoryLaidOutInTheOpenIsOneToo) {
  const auto created = [](const NameWatch& watch) {
    Outcome outcome;
    watch.report(outcome);
    return outcome.created_trusted;
  };
  const auto held = watch({});
  temp.file("w/HEAD");
  temp.directory("w/objects");
  EXPECT_EQ(created(held), Names{}) << "git does not take it for one yet";
  temp.directory("w/refs");
  EXPECT_EQ(created(held), Names{temp.path("w").text()});
  temp.directory("w/.git");
  EXPECT_EQ(created(held), Names{temp.path("w").text()}) << "once";
  EXPECT_EQ(created(watch({})), Names{}) << "what was there before";
}

}  // namespace
}  // namespace harn::sandbox

// SPDX-License-Identifier: Apache-2.0
#include "doctor/judge.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace harn::doctor {
namespace {

TEST(Judge, EveryVerdictHasItsEvidence) {
  EXPECT_EQ(judge({.worked_outside = true, .twin_worked = true}), Verdict::conforms);
  EXPECT_EQ(judge({.worked_outside = true}), Verdict::conforms);
  EXPECT_EQ(judge({.worked_outside = true, .worked_inside = true, .twin_worked = true}), Verdict::escaped);
  EXPECT_EQ(judge({.excused = true, .worked_outside = true, .worked_inside = true}), Verdict::not_enforced);
  EXPECT_EQ(judge({.worked_outside = true, .twin_worked = false}), Verdict::overrefused);
  EXPECT_EQ(judge({.rare = true, .worked_outside = false}), Verdict::not_measured);
  EXPECT_EQ(judge({.worked_outside = false}), Verdict::probe_broken);
  EXPECT_EQ(judge({.control_ran = false, .worked_outside = true}), Verdict::probe_broken);
  EXPECT_EQ(judge({.confined_ran = false, .worked_outside = true}), Verdict::probe_broken);
}

TEST(Judge, WhatThePolicyAllowsMustWork) {
  EXPECT_EQ(judge({.requested = false, .worked_outside = true, .worked_inside = true}), Verdict::conforms);
  EXPECT_EQ(judge({.requested = false, .worked_outside = true, .worked_inside = false}), Verdict::overrefused);
}

TEST(Judge, AnExcuseDoesNotTurnARefusalIntoSomethingElse) {
  EXPECT_EQ(judge({.excused = true, .worked_outside = true, .twin_worked = true}), Verdict::conforms);
}

Attack row(std::string_view excuses, std::string_view place = {}) {
  return {.name = "x", .dimension = Dimension::writes, .excuses = excuses, .place = place};
}

Plan plan_with(Gap gap) {
  Plan plan;
  plan.coverage[gap.dimension].status = Enforcement::not_enforced;
  plan.coverage.gaps = {std::move(gap)};
  return plan;
}

TEST(Excuse, OnlyAGapThatNamesThisWayOutExcuses) {
  const auto plan = plan_with({.dimension = Dimension::writes, .code = "truncate_by_path", .detail = "why"});
  EXPECT_EQ(excuse_for(row("a truncate_by_path"), plan, {}), "truncate_by_path: why");
  EXPECT_EQ(excuse_for(row("metadata_outside"), plan, {}), std::nullopt);
}

TEST(Excuse, AGapWithPathsExcusesOnlyThere) {
  const auto plan =
      plan_with({.dimension = Dimension::writes, .code = "nested_read_only", .paths = {AbsPath::of("/w/.git")}, .detail = "why"});
  Targets at;
  at.set("protected", "/w/.git/config");
  EXPECT_EQ(excuse_for(row("nested_read_only", "protected"), plan, at), "nested_read_only: why");
  at.set("protected", "/w/harn.toml");
  EXPECT_EQ(excuse_for(row("nested_read_only", "protected"), plan, at), std::nullopt);
}

TEST(Excuse, WhereNothingClaimsADimensionThatIsSaid) {
  Plan plan;
  plan.coverage[Dimension::writes] = {.status = Enforcement::not_enforced, .reason = "nothing on this host enforces it"};
  EXPECT_EQ(excuse_for(row(""), plan, {}), "nothing on this host enforces it");
  plan.coverage[Dimension::writes].status = Enforcement::enforced;
  EXPECT_EQ(excuse_for(row(""), plan, {}), std::nullopt);
  plan.route = Route::direct;
  EXPECT_EQ(excuse_for(row(""), plan, {}), "nothing confines the command");
}

TEST(AttackTable, NamesAreUniqueAndEveryAttackHasANeighbour) {
  std::set<std::string_view> names;
  for (const auto& twin : twins()) EXPECT_TRUE(names.insert(twin.name).second) << twin.name;
  for (const auto& attack : attacks()) {
    EXPECT_TRUE(names.insert(attack.name).second) << attack.name;
    EXPECT_NE(std::ranges::find(twins(), attack.twin, &Twin::name), twins().end()) << attack.name;
    EXPECT_NE(attack.inside, nullptr) << attack.name;
    EXPECT_FALSE(attack.promise.empty()) << attack.name;
  }
  EXPECT_GE(attacks().size(), 25u);
}

TEST(Attack, UnknownNamesAndMissingTargetsAreBroken) {
  const std::vector<std::string> unknown = {"no_such"};
  EXPECT_EQ(attack(unknown, {}).exit_code, 20);
  const std::vector<std::string> aimless = {"read_outside"};
  EXPECT_EQ(attack(aimless, {}).exit_code, 20);
  EXPECT_EQ(attack({}, {}).exit_code, 20);
}

TEST(Attack, AnswersByExitCodeAndOneLine) {
  const std::vector<std::string> reads = {"read_outside", "secret=/proc/self/status"};
  EXPECT_EQ(attack(reads, {}).line, "worked");
  const std::vector<std::string> fails = {"read_outside", "secret=/nonexistent"};
  const auto reply = attack(fails, {});
  EXPECT_EQ(reply.exit_code, 10);
  EXPECT_EQ(reply.line, "refused: No such file or directory");
}

TEST(SandboxReport, HoldsUnlessSomethingEscapedWasOverrefusedOrIsBroken) {
  SandboxReport report;
  for (const auto verdict : {Verdict::conforms, Verdict::not_measured, Verdict::not_enforced})
    report.measurements.push_back({.verdict = verdict});
  EXPECT_TRUE(report.holds());
  for (const auto verdict : {Verdict::escaped, Verdict::overrefused, Verdict::probe_broken}) {
    report.measurements.back().verdict = verdict;
    EXPECT_FALSE(report.holds());
  }
}

}  // namespace
}  // namespace harn::doctor

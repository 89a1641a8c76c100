// SPDX-License-Identifier: Apache-2.0
#include "plan/route.h"

#include <gtest/gtest.h>

#include "plan/coverage.h"

namespace harn::plan {
namespace {

Policy with(Profile profile) {
  Policy policy;
  policy.sandbox_profile = profile;
  return policy;
}

TEST(Route, FollowsProfileFallbackAndTheOperator) {
  EXPECT_EQ(route_of(with(Profile::unrestricted), {}), Route::direct);
  EXPECT_EQ(route_of(with(Profile::worktree), {}), Route::confined);
  EXPECT_EQ(route_of(with(Profile::wasi), {}), Route::wasi);
  EXPECT_EQ(route_of(with(Profile::os_hardened), {}), Route::confined);
  EXPECT_EQ(route_of(with(Profile::worktree), {.fallback = Fallback::off}), Route::direct);
  EXPECT_EQ(route_of(with(Profile::os_hardened), {.fallback = Fallback::off}), Route::confined)
      << "an environment variable cannot weaken os_hardened";
  EXPECT_EQ(route_of(with(Profile::wasi), {.fallback = Fallback::off}), Route::wasi);
  EXPECT_EQ(route_of(with(Profile::os_hardened), {.no_sandbox = true}), Route::direct);
}

TEST(Route, NothingGoesAroundTheSystemsCeiling) {
  const auto told = [](Profile profile, PlanOptions options) {
    const auto checked = check_ceiling(with(profile), options);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(told(Profile::worktree, {.no_sandbox = true}), "");
  EXPECT_EQ(told(Profile::worktree, {.no_sandbox = true, .least_profile = Profile::unrestricted}), "");
  EXPECT_EQ(told(Profile::worktree, {.least_profile = Profile::worktree}), "");
  EXPECT_EQ(told(Profile::os_hardened, {.no_sandbox = true, .least_profile = Profile::worktree}),
            "the command would run without a sandbox, and the system's ceiling requires profile 'worktree'");
  EXPECT_EQ(told(Profile::worktree, {.fallback = Fallback::off, .least_profile = Profile::worktree}),
            "the command would run without a sandbox, and the system's ceiling requires profile 'worktree'");
  EXPECT_EQ(told(Profile::worktree, {.least_profile = Profile::os_hardened}),
            "profile 'worktree' is weaker than 'os_hardened', which the system's ceiling requires");
}

TEST(Fallback, ATypoIsAnError) {
  EXPECT_EQ(*parse_fallback(std::nullopt), Fallback::warn);
  EXPECT_EQ(*parse_fallback(""), Fallback::warn);
  EXPECT_EQ(*parse_fallback("off"), Fallback::off);
  EXPECT_EQ(*parse_fallback("warn"), Fallback::warn);
  EXPECT_EQ(*parse_fallback("enforce"), Fallback::enforce);
  EXPECT_EQ(parse_fallback("enforced").error().message, "HARN_HANDLER_SANDBOX is 'enforced'");
}

Plan plan_with_hole(Backend backend) {
  Plan plan;
  plan.backend = backend;
  plan.tried = {{Backend::firejail, "firejail is not installed"}};
  enforced_by(plan.coverage, Dimension::reads, "x");
  open_gap(plan.coverage, {.dimension = Dimension::metadata, .code = "metadata_outside", .detail = "d", .remedy = "do this"},
           Enforcement::not_enforced);
  return plan;
}

TEST(Gate, OsHardenedRefusesAHoleWhateverTheFallback) {
  for (const auto fallback : {Fallback::off, Fallback::warn, Fallback::enforce}) {
    auto plan = plan_with_hole(Backend::linux);
    plan.profile = Profile::os_hardened;
    apply_gate(with(Profile::os_hardened), {.fallback = fallback}, plan);
    ASSERT_EQ(plan.route, Route::refused);
    EXPECT_EQ(*plan.refusal, (Refusal{.mechanism = "linux",
                                      .availability = "does_not_confine",
                                      .profile = Profile::os_hardened,
                                      .requirement = "profile",
                                      .dimensions = {Dimension::metadata},
                                      .tried = plan.tried,
                                      .message = "backend 'linux' cannot enforce metadata on this host (tried firejail: firejail is not "
                                                 "installed); profile 'os_hardened' requires it",
                                      .hint = "do this"}));
  }
}

TEST(Gate, WorktreeRunsWithAGapUnlessEnforced) {
  auto plan = plan_with_hole(Backend::linux);
  apply_gate(with(Profile::worktree), {}, plan);
  EXPECT_EQ(plan.route, Route::confined);
  apply_gate(with(Profile::worktree), {.fallback = Fallback::enforce}, plan);
  EXPECT_EQ(plan.route, Route::refused);
  EXPECT_EQ(plan.refusal->requirement, "fallback");
}

TEST(Gate, NothingUsableIsSaidOutLoud) {
  auto plan = plan_with_hole(Backend::noop);
  apply_gate(with(Profile::worktree), {}, plan);
  EXPECT_EQ(plan.route, Route::direct);
  EXPECT_EQ(plan.notes,
            std::vector<std::string>{"running without confinement: no backend works on this host (firejail: firejail is not installed)"});
  auto bound = plan_with_hole(Backend::noop);
  apply_gate(with(Profile::worktree), {.least_profile = Profile::worktree}, bound);
  EXPECT_EQ(bound.route, Route::refused);
  EXPECT_EQ(bound.refusal->requirement, "ceiling");
  auto strict = plan_with_hole(Backend::noop);
  strict.coverage.gaps.clear();
  apply_gate(with(Profile::os_hardened), {}, strict);
  EXPECT_EQ(strict.refusal->mechanism, "none");
  EXPECT_EQ(strict.refusal->availability, "absent_on_host");
  EXPECT_EQ(strict.refusal->hint, "'harn plan' names the gaps; profile 'worktree' accepts them");
}

TEST(Gate, ACompletePlanPasses) {
  Plan plan;
  plan.backend = Backend::linux;
  enforced_by(plan.coverage, Dimension::reads, "x");
  apply_gate(with(Profile::os_hardened), {}, plan);
  EXPECT_EQ(plan.route, Route::confined);
  EXPECT_FALSE(plan.refusal);
}

TEST(Backends, EveryBackendHasOneRow) {
  for (const auto backend : {Backend::linux, Backend::bubblewrap, Backend::firejail, Backend::docker, Backend::podman, Backend::macos,
                             Backend::windows, Backend::openbsd, Backend::noop})
    EXPECT_EQ(row_of(backend).backend, backend);
  EXPECT_EQ(backends().size(), 9u);
}

TEST(Backends, UnusableOnesSayWhy) {
  HostFacts facts;
  facts.linux.why_no_user_namespaces = "sysctl";
  EXPECT_EQ(row_of(Backend::linux).why_unusable(facts), "no Landlock, and user namespaces are not usable: sysctl");
  EXPECT_EQ(row_of(Backend::bubblewrap).why_unusable(facts), "bubblewrap is not installed");
  facts.tools["podman"] = {.works = false, .why_not = "no rights"};
  EXPECT_EQ(row_of(Backend::podman).why_unusable(facts), "podman does not work here: no rights");
  facts.tools["docker"].works = facts.tools["firejail"].works = facts.tools["sandbox-exec"].works = true;
  for (const auto backend : {Backend::docker, Backend::firejail, Backend::macos, Backend::windows, Backend::openbsd})
    EXPECT_EQ(row_of(backend).why_unusable(facts), "");
}

}  // namespace
}  // namespace harn::plan

// SPDX-License-Identifier: Apache-2.0
// Children only narrow, all the way down: for every backend the plan of an intersection grants
// nothing that the plan of either side withholds. Judged on what the native text means.
#include <gtest/gtest.h>

#include "harn/policy_text.h"
#include "plan/names.h"
#include "policy/meet.h"
#include "support/cases.h"
#include "support/generate.h"
#include "support/plan_access.h"
#include "support/shrink.h"

namespace harn::test {
namespace {

const int cases_per_backend = cases_of(1'500);

struct Side {
  Backend backend;
  Platform platform;
};

// Firejail and containers refuse many generated policies outright; those say nothing about the law.
std::optional<Plan> plan_for(const Policy& policy, const HostFacts& facts, Backend backend) {
  auto plan = make_plan(policy, sample_command(), facts, {.backend = backend});
  if (!plan) return std::nullopt;
  return std::move(*plan);
}

// Where the plan says itself that it enforces less than the policy, it has not widened in silence.
bool named_as_gap(const Coverage& coverage, const AbsPath& path) {
  return std::any_of(coverage.gaps.begin(), coverage.gaps.end(), [&](const Gap& gap) {
    return std::any_of(gap.paths.begin(), gap.paths.end(), [&](const AbsPath& root) { return root.contains(path); });
  });
}

bool beneath_a_file(const HostFacts& facts, const AbsPath& path) {
  for (auto at = path.parent(); !at.is_root(); at = at.parent()) {
    const auto kind = facts.kind_of(at);
    if (kind != PathKind::directory && kind != PathKind::missing) return true;
  }
  return false;
}

std::string widened(const Policy& a, const Policy& b, const HostFacts& facts, Backend backend) {
  const auto mine = plan_for(a, facts, backend);
  const auto both = plan_for(policy::meet(a, b), facts, backend);
  if (!mine || !both) return {};
  if (plan_reaches_network(*both) && !plan_reaches_network(*mine)) return "network";
  const auto grants = model_of(*both, facts);
  const auto granted = model_of(*mine, facts);
  for (const auto& path : interesting_paths(a, facts)) {
    if (named_as_gap(both->coverage, path) || beneath_a_file(facts, path)) continue;
    for (const auto op : {FileOp::read, FileOp::write, FileOp::remove})
      if (grants(path, op) && !granted(path, op)) return path.text();
  }
  return {};
}

class PlanLaws : public testing::TestWithParam<Side> {};

TEST_P(PlanLaws, ThePlanOfAnIntersectionNeverWidens) {
  const auto [backend, platform] = GetParam();
  Random random(static_cast<std::uint64_t>(backend) + 1);
  int judged = 0;
  for (int i = 0; i < cases_per_backend; ++i) {
    const auto facts = random_facts(random, platform);
    const auto a = plannable_policy(random, facts);
    const auto b = plannable_policy(random, facts);
    for (const auto& [p, q] : {std::pair(&a, &b), std::pair(&b, &a)}) {
      if (plan_for(*p, facts, backend)) ++judged;
      if (widened(*p, *q, facts, backend).empty()) continue;
      const auto small_p = shrink(*p, [&](const Policy& x) { return !widened(x, *q, facts, backend).empty(); });
      const auto small_q = shrink(*q, [&](const Policy& x) { return !widened(small_p, x, facts, backend).empty(); });
      FAIL() << "at " << widened(small_p, small_q, facts, backend) << "\na = " << policy_to_json(small_p)
             << "\nb = " << policy_to_json(small_q) << "\nabi " << facts.linux.landlock_abi << " userns " << facts.linux.user_namespaces;
    }
  }
  RecordProperty("judged", judged);
  EXPECT_GT(judged, cases_per_backend / 30) << "the generator hardly ever makes a policy this backend accepts";
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, PlanLaws,
                         testing::Values(Side{Backend::linux, Platform::linux}, Side{Backend::bubblewrap, Platform::linux},
                                         Side{Backend::firejail, Platform::linux}, Side{Backend::docker, Platform::linux},
                                         Side{Backend::podman, Platform::linux}, Side{Backend::macos, Platform::macos},
                                         Side{Backend::windows, Platform::windows}, Side{Backend::openbsd, Platform::openbsd}),
                         [](const auto& side) { return std::string(base::enum_name(side.param.backend)); });

}  // namespace
}  // namespace harn::test

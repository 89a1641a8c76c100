// SPDX-License-Identifier: Apache-2.0
#include "cli/outlook.h"

namespace harn::cli {

ProfileOutlook outlook(const Prepared& prepared, Profile profile) {
  auto policy = prepared.policy;
  policy.sandbox_profile = profile;
  auto plan = make_plan(policy, {.argv = {"true"}}, prepared.facts, prepared.options);
  if (!plan) return {.profile = profile, .problem = plan.error().message};
  return {.profile = profile, .plan = std::move(*plan)};
}

}  // namespace harn::cli

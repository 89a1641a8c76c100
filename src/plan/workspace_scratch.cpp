// SPDX-License-Identifier: Apache-2.0
#include "plan/workspace_scratch.h"

#include <algorithm>
#include <utility>

#include "plan/environment.h"

namespace harn::plan {

void move_temp_into_workspace(const PlanInput& input, Plan& plan) {
  if (!input.rules.writes_allowed() || !input.policy.effective_presets().contains(Preset::user_temp)) return;
  auto roots = input.policy.workspace_roots.value_or(std::vector<AbsPath>{});
  // The root around the working directory first: its volume is the one the command works on.
  std::sort(roots.begin(), roots.end(),
            [&](const AbsPath& a, const AbsPath& b) { return std::pair(!a.contains(plan.cwd), a) < std::pair(!b.contains(plan.cwd), b); });
  for (const auto& root : roots) {
    const auto scratch = root.join(".harn-tmp");
    if (input.rules.access(scratch) != Access::write) continue;
    plan.scratch = scratch;
    return point_temp_at(input.policy, scratch.text(), plan);
  }
}

}  // namespace harn::plan

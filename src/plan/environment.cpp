// SPDX-License-Identifier: Apache-2.0
#include "plan/environment.h"

#include "plan/coverage.h"
#include "policy/env_rules.h"

namespace harn::plan {

void plan_environment(const Policy& policy, const Command& command, Plan& plan) {
  auto outcome = policy::apply_env_rules(policy.env, command.environment);
  plan.env.variables = std::move(outcome.variables);
  plan.env.removed.clear();
  for (auto& gone : outcome.removed) plan.env.removed.push_back({std::move(gone.name), std::move(gone.why)});
  enforced_by(plan.coverage, Dimension::env, "launcher");
}

void point_temp_at(const Policy& policy, const std::string& directory, Plan& plan) {
  for (const auto* name : {"TMPDIR", "TMP", "TEMP"})
    if (!policy.env.set.contains(name)) plan.env.variables[name] = directory;
  // zsh prefixes the names of its here-document files with this, so it is no directory.
  if (!policy.env.set.contains("TMPPREFIX")) plan.env.variables["TMPPREFIX"] = directory + "/zsh";
}

}  // namespace harn::plan

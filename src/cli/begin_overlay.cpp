// SPDX-License-Identifier: Apache-2.0
#include "cli/run_steps.h"

namespace harn::cli {

Result<std::optional<workspace::Pending>> begin_overlay(const Plan& plan, const PlanOptions& options) {
  const auto* linux = std::get_if<LinuxConfinement>(&plan.confinement);
  if (!options.overlay || linux == nullptr || !linux->view) return std::optional<workspace::Pending>();
  std::vector<AbsPath> roots;
  for (const auto& step : linux->view->mounts)
    if (step.op == MountOp::overlay) roots.push_back(step.target);
  HARN_TRY(pending, workspace::Pending::begin(*options.overlay, roots));
  return std::optional<workspace::Pending>(std::move(pending));
}

}  // namespace harn::cli

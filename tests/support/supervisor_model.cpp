// SPDX-License-Identifier: Apache-2.0
#include "support/supervisor_model.h"

namespace harn::test {

const SupervisedPath* nearest_rule(const SupervisorPlan& plan, const AbsPath& path) {
  const SupervisedPath* nearest = nullptr;
  for (const auto& rule : plan.rules)
    if (rule.path.contains(path) && (nearest == nullptr || nearest->path.contains(rule.path))) nearest = &rule;
  return nearest;
}

bool supervisor_allows(const SupervisorPlan& plan, const AbsPath& path, FileOp op) {
  const auto* nearest = nearest_rule(plan, path);
  const auto access = nearest == nullptr ? Access::none : nearest->access;
  switch (op) {
    case FileOp::execute: return true;
    case FileOp::read:
    case FileOp::list: return !plan.reads || access >= Access::read;
    case FileOp::write: return access == Access::write;
    case FileOp::remove: return access == Access::write && !nearest->device;
  }
  return false;
}

}  // namespace harn::test

// SPDX-License-Identifier: Apache-2.0
#include "support/supervisor_model.h"

namespace harn::test {

bool supervisor_allows(const SupervisorPlan& plan, const AbsPath& path, FileOp op) {
  const SupervisedPath* nearest = nullptr;
  for (const auto& rule : plan.rules)
    if (rule.path.contains(path) && (nearest == nullptr || nearest->path.contains(rule.path))) nearest = &rule;
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

// SPDX-License-Identifier: Apache-2.0
#include "run/tree_limits.h"

namespace harn::run {

Result<TreeLimits> TreeLimits::open(const LimitPlan& limits, const std::string&) {
  if (limits.cgroup.empty() && limits.watched.empty()) return TreeLimits();
  return fail(Error{.code = ErrorCode::not_supported,
                    .stage = Stage::prepare,
                    .message = "limits of the whole process tree are not enforced by this version",
                    .hint = "leave --memory, --procs and --cpu-seconds out"});
}

void TreeLimits::watch(const Process&) {}

void TreeLimits::report(Usage&) const {}

}  // namespace harn::run

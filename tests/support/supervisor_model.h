// SPDX-License-Identifier: Apache-2.0
// What a supervisor does on behalf of a command, worked out from its description: it answers what may change
// something, and every other open where the plan says so. Starting a program is not opening it.
#pragma once

#include "harn/plan.h"

namespace harn::test {

const SupervisedPath* nearest_rule(const SupervisorPlan& plan, const AbsPath& path);
bool supervisor_allows(const SupervisorPlan& plan, const AbsPath& path, FileOp op);

}  // namespace harn::test

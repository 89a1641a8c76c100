// SPDX-License-Identifier: Apache-2.0
// Temporary files where no private /tmp exists: a directory of the run inside the workspace.
#pragma once

#include "plan/lower.h"

namespace harn::plan {

// Sets plan.scratch and points the temp variables there. Does nothing when the policy has no
// user_temp preset, writes nothing, or has no workspace root whose scratch directory is writable.
void move_temp_into_workspace(const PlanInput& input, Plan& plan);

}  // namespace harn::plan

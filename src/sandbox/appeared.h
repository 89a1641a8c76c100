// SPDX-License-Identifier: Apache-2.0
// What must not appear and cannot be kept from appearing, and what may because the command itself
// made the repository around it: looked for after the run.
#pragma once

#include <vector>

#include "harn/outcome.h"
#include "harn/plan.h"

namespace harn::sandbox {

// The roots that are no repository now.
std::vector<AbsPath> without_repository(std::vector<AbsPath> roots);

void report_appeared(const Plan& plan, const std::vector<AbsPath>& were_no_repository, Outcome& outcome);

}  // namespace harn::sandbox

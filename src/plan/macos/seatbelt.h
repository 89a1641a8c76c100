// SPDX-License-Identifier: Apache-2.0
// The Seatbelt profile of a policy as typed rules; lower_seatbelt() wraps it in sandbox-exec.
#pragma once

#include <vector>

#include "plan/lower.h"
#include "plan/macos/sbpl_text.h"

namespace harn::plan {

std::vector<SbplRule> seatbelt_rules(const PlanInput& input);

}  // namespace harn::plan

// SPDX-License-Identifier: Apache-2.0
// The part of a Seatbelt profile that does not depend on paths: what it takes to start a program at
// all, and which doors out of the sandbox stay shut although those rules would leave them open.
#pragma once

#include <vector>

#include "harn/host.h"
#include "harn/policy.h"
#include "plan/macos/sbpl_text.h"

namespace harn::plan {

std::vector<SbplRule> seatbelt_base(const Policy& policy, const HostFacts& facts);

}  // namespace harn::plan

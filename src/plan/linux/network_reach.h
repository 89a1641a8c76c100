// SPDX-License-Identifier: Apache-2.0
// How far a policy lets a command reach, folded from side_effect_level and network: the one question
// every network mechanism starts from.
#pragma once

#include "harn/policy.h"
#include "plan/syscalls/syscalls.h"

namespace harn::plan {

NetworkReach network_reach(const Policy& policy);

}  // namespace harn::plan

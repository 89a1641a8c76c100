// SPDX-License-Identifier: Apache-2.0
// Layer "supervisor": what Landlock cannot say where there is no view. Closed places inside open ones, names
// that must not come into being, and changes of metadata are decided by a process of ours, call by call.
#pragma once

#include <optional>

#include "plan/linux/landlock.h"
#include "plan/linux/socket_reach.h"

namespace harn::plan {

// Unset where the policy asks nothing that Landlock does not hold already, and nothing is to be explained.
std::optional<SupervisorPlan> plan_supervisor(const PlanInput& input, const LandlockOutcome& landlock, const SocketReach& sockets,
                                              bool network);

// Landlock before ABI 6 has no scopes: whom a signal reaches, and which abstract names, the supervisor decides.
bool supervises_signals(const HostFacts& facts);

// Beside a view, which decides: only to tell what was refused. Its rules say what of the host is not there.
SupervisorPlan plan_explanation(const View& view);

}  // namespace harn::plan

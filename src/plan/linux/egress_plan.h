// SPDX-License-Identifier: Apache-2.0
// What the relay of a sandbox is told, and what the sandbox is shown so that every program finds it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "plan/linux/network_reach.h"
#include "plan/lower.h"

namespace harn::plan {

// Nothing where nobody needs a relay: the network is closed and no port is published.
std::optional<EgressPlan> plan_egress(const PlanInput& input, NetworkReach reach);

// The resolver's address, and no names but loopback's own: every other is asked for, and decided about.
std::map<std::string, std::string> name_files();

}  // namespace harn::plan

// SPDX-License-Identifier: Apache-2.0
// The Seatbelt profile of a policy as typed rules; lower_seatbelt() wraps it in sandbox-exec.
#pragma once

#include <vector>

#include "plan/lower.h"
#include "plan/macos/sbpl_text.h"

namespace harn::plan {

std::vector<SbplRule> seatbelt_rules(const PlanInput& input);

// The text of a profile once the relay's port is known. Only the rule that opens it is changed: a path of the policy may hold the same
// words, and a rule about that path must go on naming it.
std::string seatbelt_with_relay_port(std::string profile, std::uint16_t port);

}  // namespace harn::plan

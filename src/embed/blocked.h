// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harn/policy.h"
#include "harn/result.h"

namespace harn::embed {

// An error when the policy's blocked_commands names the command.
Status check_not_blocked(const Policy& policy, const std::vector<std::string>& argv);

}  // namespace harn::embed

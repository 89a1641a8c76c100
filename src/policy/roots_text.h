// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harn/policy.h"

namespace harn::policy {

// As a sandbox violation names them: "/a, /b".
std::string roots_text(const Policy& policy);

}  // namespace harn::policy

// SPDX-License-Identifier: Apache-2.0
// Makes a failing policy as small as it can be while it still fails.
#pragma once

#include <functional>

#include "harn/policy.h"

namespace harn::test {

Policy shrink(Policy policy, const std::function<bool(const Policy&)>& still_fails);

}  // namespace harn::test

// SPDX-License-Identifier: Apache-2.0
// The meet alone, in canonical form. intersect() adds the report, within() compares against it.
#pragma once

#include "harn/policy.h"

namespace harn::policy {

Policy meet(const Policy& a, const Policy& b);

}  // namespace harn::policy

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harn/plan.h"

namespace harn::sandbox {

// What no plan may run with, whatever applies it: a refusal, and named hosts that would all be closed.
Status check_admitted(const Plan& plan);

}  // namespace harn::sandbox

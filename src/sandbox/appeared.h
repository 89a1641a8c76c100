// SPDX-License-Identifier: Apache-2.0
// Names that must not appear and cannot be kept from appearing: looked for after the run.
#pragma once

#include "harn/outcome.h"
#include "harn/plan.h"

namespace harn::sandbox {

void report_appeared(const Plan& plan, Outcome& outcome);

}  // namespace harn::sandbox

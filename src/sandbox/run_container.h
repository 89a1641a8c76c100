// SPDX-License-Identifier: Apache-2.0
// run_plan() for plans that a container engine carries out.
#pragma once

#include "harn/sandbox.h"

namespace harn::sandbox {

Result<Outcome> run_container(const Plan& plan, const RunOptions& options);

}  // namespace harn::sandbox

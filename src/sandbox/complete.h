// SPDX-License-Identifier: Apache-2.0
// The end of a run, the same on every system: what was refused, what is still there, the record and the receipt.
#pragma once

#include "harn/sandbox.h"

namespace harn::sandbox {

void complete(const RunOptions& options, Outcome& outcome, Receipt receipt, const std::string& plan_digest);

}  // namespace harn::sandbox

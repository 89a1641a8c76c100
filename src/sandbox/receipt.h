// SPDX-License-Identifier: Apache-2.0
// A receipt from a plan and what the launcher proved.
#pragma once

#include <span>

#include "harn/receipt.h"

namespace harn::sandbox {

Receipt make_receipt(const Plan& plan, std::span<const Dimension> proved);

}  // namespace harn::sandbox

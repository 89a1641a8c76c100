// SPDX-License-Identifier: Apache-2.0
// The system's ceiling: what the machine's administrator lets anybody ask for.
#pragma once

#include <optional>

#include "harn/path.h"
#include "harn/policy.h"
#include "harn/result.h"

namespace harn::embed {

// Its links resolved; nothing where the machine has none. One that others could change is an error.
Result<std::optional<Policy>> system_ceiling(const AbsPath& home);

}  // namespace harn::embed

// SPDX-License-Identifier: Apache-2.0
// What would make a mechanism work here, from what failed and how the kernel is set.
#pragma once

#include <string>

#include "harn/result.h"

namespace harn::prove {

std::string view_remedy(const Error& error, std::uint32_t uid);
std::string landlock_remedy();

}  // namespace harn::prove

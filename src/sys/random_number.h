// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace harn::sys {

// From the kernel; nobody can guess it.
std::uint64_t random_number();

}  // namespace harn::sys

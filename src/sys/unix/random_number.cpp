// SPDX-License-Identifier: Apache-2.0
#include "sys/random_number.h"

#include <stdlib.h>

namespace harn::sys {

// Seeded by the kernel, and again in every child; it cannot fail.
std::uint64_t random_number() {
  std::uint64_t number = 0;
  ::arc4random_buf(&number, sizeof number);
  return number;
}

}  // namespace harn::sys

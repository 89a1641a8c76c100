// SPDX-License-Identifier: Apache-2.0
#include "sys/random_number.h"

#include <sys/random.h>
#include <sys/types.h>

namespace harn::sys {

std::uint64_t random_number() {
  std::uint64_t number = 0;
  while (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) {
  }
  return number;
}

}  // namespace harn::sys

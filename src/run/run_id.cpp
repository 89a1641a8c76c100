// SPDX-License-Identifier: Apache-2.0
#include "run/run_id.h"

#include <sys/random.h>

#include <cstdint>

#include <fmt/format.h>

namespace harn::run {

std::string make_run_id() {
  std::uint64_t number = 0;
  while (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) {
  }
  return fmt::format("run-{:016x}", number);
}

}  // namespace harn::run

// SPDX-License-Identifier: Apache-2.0
#include "run/run_id.h"

#include <fmt/format.h>

#include "sys/random_number.h"

namespace harn::run {

std::string make_run_id() { return fmt::format("run-{:016x}", sys::random_number()); }

}  // namespace harn::run

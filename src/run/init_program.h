// SPDX-License-Identifier: Apache-2.0
// The init program, the supervisor and the keeper, built with the library and carried inside it: no second file to
// install or trust.
#pragma once

#include "harn/result.h"
#include "sys/unique_fd.h"

namespace harn::run {

// A descriptor to execute, holding the embedded program.
Result<sys::UniqueFd> open_init_program();
Result<sys::UniqueFd> open_supervisor_program();
Result<sys::UniqueFd> open_keeper_program();

}  // namespace harn::run

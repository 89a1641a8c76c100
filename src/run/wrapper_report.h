// SPDX-License-Identifier: Apache-2.0
// Whether a program that confines on our behalf got as far as the command.
#pragma once

#include <string_view>

#include "harn/result.h"

namespace harn::run {

// From the descriptor on which bubblewrap tells how the command ended.
bool wrapper_started_command(int status_fd);

// What it said is only ours to repeat where it did not go to the caller already.
Error no_sandbox_made(std::string_view captured);

}  // namespace harn::run

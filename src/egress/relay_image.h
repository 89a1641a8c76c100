// SPDX-License-Identifier: Apache-2.0
// The relay's program, ready to be executed.
#pragma once

#include "harn/result.h"
#include "sys/unique_fd.h"

namespace harn::egress {

Result<sys::UniqueFd> open_relay_program();

}  // namespace harn::egress

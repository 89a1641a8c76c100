// SPDX-License-Identifier: Apache-2.0
// The standard devices: paths that name the caller's own streams, or nothing. Matched as they are
// spelled, so that no link can become one. /dev/fd/N with N above 2 is no standard stream but any
// descriptor of the host program, and none of the agent's business.
#pragma once

#include <optional>
#include <string_view>

#include "harn/policy.h"

namespace harn::files {

enum class StandardDevice : std::int8_t {
  null = -1,
  input = 0,
  output = 1,
  error = 2
};

// Nothing when the path is none, or this cannot be done to it.
std::optional<StandardDevice> standard_device(std::string_view path, FileOp op);

}  // namespace harn::files

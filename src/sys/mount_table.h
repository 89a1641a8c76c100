// SPDX-License-Identifier: Apache-2.0
// /proc/PID/mountinfo, a line a mount.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace harn::sys {

struct Mount {
  std::string device = {};  // "0:53"
  std::string point = {};
  std::string type = {};  // of the file system
};

// Lines that are none are passed over.
std::vector<Mount> parse_mounts(std::string_view mountinfo);

}  // namespace harn::sys

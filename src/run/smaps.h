// SPDX-License-Identifier: Apache-2.0
// What /proc/PID/smaps tells about the mappings of a process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace harn::run {

struct Mapping {
  std::uint64_t size = 0;    // bytes
  std::uint64_t offset = 0;  // of its first byte in the mapped object
  dev_t device = 0;
  ino_t inode = 0;
  bool system_v = false;
  std::uint64_t proportion = 0;  // resident bytes, divided among those who share them
  std::uint64_t anonymous = 0;   // of those, private copies
};

std::vector<Mapping> parse_smaps(std::string_view text);

}  // namespace harn::run

// SPDX-License-Identifier: Apache-2.0
// Every process of this machine, as its system lists them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace harn::run {

struct ProcessEntry {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  std::uint64_t started = 0;  // tells two processes with one number apart
  std::uint64_t resident_bytes = 0;
  std::uint64_t cpu_ms = 0;
  bool ended = false;  // and only waits for its parent to hear of it
};

// Empty when the system does not tell.
std::vector<ProcessEntry> list_processes();

}  // namespace harn::run

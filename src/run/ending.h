// SPDX-License-Identifier: Apache-2.0
// What a wait status means, given what the supervisor did. Pure.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <optional>

#include "harn/outcome.h"

namespace harn::run {

// The signals the kernel sends for exceeded limits, and ours for exceeded time, told apart from a
// command that merely ended by the same signal.
struct Ended {
  int wait_status = 0;
  bool deadline_passed = false;  // the supervisor stopped it for its wall-clock time
  bool cpu_spent = false;        // … for the processor time of the whole tree
  bool memory_spent = false;     // … or the kernel did, for its memory
  bool processes_spent = false;
  bool cpu_limited = false;  // the plan limits it
  std::optional<std::uint64_t> file_size_limit = {};
  std::uint64_t written_bytes = 0;  // at least
};

void settle_ending(const Ended& ended, Outcome& outcome);

inline constexpr int told_by_shell = 128;          // and the number of a signal
inline constexpr std::uint64_t block_bytes = 512;  // what ru_oublock counts in, whatever the disk

// Processor time and bytes of everybody add up, memory is that of the largest.
void add_usage(const rusage& used, Usage& usage);

}  // namespace harn::run

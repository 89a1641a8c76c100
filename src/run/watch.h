// SPDX-License-Identifier: Apache-2.0
// Totals of a tree compared with its limits by looking again and again, where no cgroup counts them.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "run/supervise.h"
#include "run/tree_memory.h"

namespace harn::run {

struct WatchLimits {
  std::optional<std::uint64_t> memory_bytes = {};
  std::optional<std::uint64_t> cpu_us = {};
  std::optional<std::uint64_t> processes = {};

  bool any() const { return memory_bytes || cpu_us || processes; }
};

class Watch {
 public:
  Watch(const WatchLimits& limits, const Process& process, bool orphans);

  Reading look();
  void set_system_v(std::uint64_t bytes) { memory_.set_system_v(bytes); }

  std::uint64_t memory_peak_bytes() const { return memory_peak_; }
  std::uint64_t processes_peak() const { return processes_peak_; }

 private:
  std::uint64_t cpu_us(const std::vector<Member>& members);

  WatchLimits limits_ = {};
  ProcTree tree_;
  TreeMemory memory_;
  std::uint64_t memory_peak_ = 0;
  std::uint64_t processes_peak_ = 0;
  std::map<std::pair<pid_t, std::uint64_t>, std::uint64_t> last_ticks_ = {};  // by pid and start, so that a reused pid is another
  bool orphans_ = false;                                                      // come to us, and we have no other children
  std::uint64_t reaped_before_us_ = 0;  // processor time of our children that ended before the command began
  std::uint64_t seen_ticks_ = 0;
};

}  // namespace harn::run

// SPDX-License-Identifier: Apache-2.0
// Memory that no counter of a process shows: a shared mapping keeps its pages although nobody has
// touched them since, a memory file can be in flight between two sockets or held by a process that is
// closed to us. The host tells how much shared memory there is in all; what has been added since the
// command began, is seen nowhere and fits such a place of the tree is taken to be there, once it has stayed
// for a while: others on the host come and go.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <set>
#include <utility>
#include <vector>

#include "run/proc_tree.h"

namespace harn::run {

using Inode = std::pair<dev_t, ino_t>;

class HiddenMemory {
 public:
  using Clock = std::chrono::steady_clock;

  explicit HiddenMemory(dev_t memory_file_device = 0);

  // How much more shared memory the whole host holds than when the command began.
  std::uint64_t growth() const;
  // What the tree may hide; never more than `growth`. `counted` are the files that are known with all
  // they hold, `counted_bytes` of shared memory.
  std::uint64_t bytes(const ProcTree& tree, const std::vector<pid_t>& holders, const std::set<Inode>& counted, std::uint64_t counted_bytes,
                      std::uint64_t growth) const;

  // Of what was told, one look after the other, the least within the last second; 0 before one is over.
  std::uint64_t lasting(std::uint64_t bytes, Clock::time_point now);

 private:
  std::deque<std::pair<Clock::time_point, std::uint64_t>> looks_ = {};  // the oldest is a second old, or the first
  dev_t memory_file_device_ = 0;
  std::uint64_t before_ = 0;
};

}  // namespace harn::run

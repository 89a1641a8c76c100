// SPDX-License-Identifier: Apache-2.0
// Everybody beneath us, as /proc lists them.
#pragma once

#include "run/supervisor/kernel.h"

namespace harn::run::supervisor {

// Processes found and not yet looked into. One pass that overflows is followed by others.
struct Found {
  static constexpr int most = 4096;
  std::uint64_t pids[most];
  int count;
};

// Newest first: of processes that flee by forking and ending, the newest is the one that lives.
void each_descendant(Found& found, void (*visit)(std::uint64_t process, void* given), void* given);
void each_descendant_of(std::uint64_t process, Found& found, void (*visit)(std::uint64_t process, void* given), void* given);
void signal_descendants(int number, Found& found);
// Children of one process, the oldest first.
void list_children(std::uint64_t process, Found& found);

// Is this process one of ours? Then it is held in `out`, and nobody else can get its number there. -ESRCH when there is none,
// -EPERM when it is not ours, or moved while we looked.
Word hold_descendant(std::uint64_t process, Fd& out);
// The process a thread belongs to; 0 when it is gone.
std::uint64_t process_of(std::uint64_t thread);

}  // namespace harn::run::supervisor

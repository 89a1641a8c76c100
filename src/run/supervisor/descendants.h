// SPDX-License-Identifier: Apache-2.0
// Everybody beneath us, as /proc lists them.
#pragma once

#include <cstdint>

namespace harn::run::supervisor {

// Processes found and not yet looked into. One pass that overflows is followed by others.
struct Found {
  static constexpr int most = 4096;
  std::uint64_t pids[most];
  int count;
};

void signal_descendants(int number, Found& found);
// Children of one process, the oldest first.
void list_children(std::uint64_t process, Found& found);

}  // namespace harn::run::supervisor

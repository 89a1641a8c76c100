// SPDX-License-Identifier: Apache-2.0
// What the keeper of a view is given when it starts.
#pragma once

#include "run/prepared_parts.h"
#include "run/session_freezer.h"

namespace harn::run {

struct KeeperSettings {
  int listener = -1;                        // borrowed; its socket, bound and listening
  std::uint64_t idle_ms = 0;                // without a command everybody is stopped after this; 0 = never
  std::uint64_t lifetime_ms = 0;            // 0 = until somebody ends it
  const SessionFreezer* freezer = nullptr;  // borrowed; null = everybody is stopped by a signal
};

// The socket, what every command gives up, and the descriptors that speaks of.
Status write_gifts(const KeeperSettings& settings, PreparedParts& parts);

}  // namespace harn::run

// SPDX-License-Identifier: Apache-2.0
// Holds a running command until nothing of it is left: passes bytes and signals, keeps the deadline,
// ends the tree, and says how it ended. One poll loop, no thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "harn/outcome.h"
#include "run/launch.h"
#include "run/stdio.h"

namespace harn::run {

// Which limit of the tree is spent, as counted from outside.
enum class Spent : std::uint8_t {
  nothing,
  memory,
  cpu,
  processes
};

struct SuperviseSettings {
  const LimitPlan& limits;
  Session session = Session::own;
  int signal_fd = -1;                 // a signalfd of the caller; what arrives is passed on
  bool reaper = false;                // orphans of the tree come to us (PR_SET_CHILD_SUBREAPER)
  std::function<Spent()> check = {};  // asked every `check_every`, and once at the end
  std::chrono::milliseconds check_every{50};
  std::function<void()> kill_tree = {};  // a cgroup's own way to end everybody; may be empty
};

Result<Outcome> supervise(Process process, Stdio stdio, const SuperviseSettings& settings);

}  // namespace harn::run

// SPDX-License-Identifier: Apache-2.0
// A running command until nothing of it is left: its streams, its time, its totals, the signals meant for it.
#pragma once

#include <sys/types.h>

#include "harn/sandbox.h"
#include "run/stdio.h"

namespace harn::run {

struct Watching {
  pid_t leader = -1;
  const LimitPlan& limits;
  const RunOptions& options;
  int signal_fd = -1;
  bool has_terminal = false;  // the command got its foreground
};

Result<Outcome> supervise(const Watching& watching, Stdio stdio);

}  // namespace harn::run

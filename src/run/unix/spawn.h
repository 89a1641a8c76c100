// SPDX-License-Identifier: Apache-2.0
// From a plan to a running process where there is no clone(2): fork, a fixed row of steps, exec. A step that fails is
// told through a pipe that closes at exec, and the command has not run then.
#pragma once

#include <sys/types.h>

#include <array>

#include "harn/plan.h"
#include "run/unix/confine.h"

namespace harn::run {

struct SpawnRequest {
  const Plan& plan;
  const Confining& confining;
  std::array<int, 3> stdio = {0, 1, 2};  // borrowed; become 0, 1 and 2
  int terminal_fd = -1;                  // the command gets its foreground; -1 = a session of its own
};

// The command leads a process group.
Result<pid_t> spawn(const SpawnRequest& request);

// Where a shell would look: the word itself when it names a place, else every entry of PATH as the command will see it.
std::vector<std::string> places_of_program(const std::string& word, const EnvPlan& env);

// "'x' was not found", with the exit code that goes with it.
Error cannot_start(std::string_view command, int error);

}  // namespace harn::run

// SPDX-License-Identifier: Apache-2.0
// From the first instruction to the last process of the tree: deadlines, the job's messages and accounts, and an end that
// nobody in the job can outlive.
#pragma once

#include "harn/outcome.h"
#include "harn/plan.h"
#include "run/windows/launch.h"
#include "run/windows/os/streams.h"

namespace harn::run::windows {

struct SuperviseRequest {
  const LimitPlan& limits;
  const JobLimits& job = {};  // what the job was told, to know what ended the command
  HANDLE stop = nullptr;      // borrowed; once it is signalled the command is ended
};

// An error means that the command never ran.
Result<Outcome> supervise(Launched& launched, Streams streams, const SuperviseRequest& request);

}  // namespace harn::run::windows

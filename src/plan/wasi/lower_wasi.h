// SPDX-License-Identifier: Apache-2.0
// From a module to the command that runs it: which runtime, which directories, which words. Pure.
#pragma once

#include <string>
#include <vector>

#include "plan/lower.h"

namespace harn::plan {

struct WasiRun {
  Policy policy = {};    // the same, but its variables are what the runtime gets
  Command command = {};  // the runtime
  WasiPlan wasi = {};
  std::vector<RemovedVariable> removed = {};  // what the policy keeps from the module
};

// An error where the command is no module, where no runtime works here, or where it cannot be told something. `named` is the
// operator's runtime.
Result<WasiRun> lower_wasi(const PlanInput& input, const std::string& named);

// A module has no call for most things: where the layers around hold, the runtime holds too.
void cover_wasi(const WasiPlan& wasi, Plan& plan);

}  // namespace harn::plan

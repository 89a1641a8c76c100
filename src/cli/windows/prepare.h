// SPDX-License-Identifier: Apache-2.0
// Everything make_plan() needs on Windows, from flags, files and the host.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/args.h"
#include "cli/flags.h"
#include "harn/plan.h"

namespace harn::cli {

struct PreparedRun {
  HostFacts facts = {};
  Policy policy = {};
  PathRules rules = {};
  Command command = {};
  PlanOptions options = {};
  bool this_host = true;
  std::vector<std::string> notes = {};
};

Result<HostFacts> facts_here(const Caller& caller);
Result<PreparedRun> prepare_run(const Arguments& arguments, const Caller& caller);

}  // namespace harn::cli

// SPDX-License-Identifier: Apache-2.0
// Command-line flags as the operator's layer of a policy.
#pragma once

#include "cli/args.h"
#include "harn/plan.h"

namespace harn::cli {

// What relative paths and "~" on the command line refer to.
struct PathContext {
  AbsPath cwd = {};
  AbsPath home = {};
};

Result<AbsPath> path_argument(std::string_view text, const PathContext& context);
Result<std::vector<AbsPath>> path_arguments(const std::vector<std::string>& texts, const PathContext& context);

// Only what the flags say; everything else stays unset. Naming --write names the whole workspace.
Result<Policy> policy_from_flags(const Arguments& arguments, const PathContext& context);

// --total-memory, --total-procs and --total-cpus, of a session.
Result<Limits> total_limits_from(const Arguments& arguments);

// With --sandbox process or docker: what the whole policy leaves unlimited gets the Harness defaults.
void add_default_limits(const Arguments& arguments, Limits& limits);

// --backend, --sandbox and --no-sandbox, and HARN_HANDLER_SANDBOX from the environment.
Result<PlanOptions> plan_options_from(const Arguments& arguments, const Caller& caller);

}  // namespace harn::cli

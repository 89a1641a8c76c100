// SPDX-License-Identifier: Apache-2.0
// --ask: who is asked, what a yes into the policy writes, and whose the terminal is meanwhile.
#pragma once

#include <optional>

#include "cli/args.h"
#include "cli/prepare.h"
#include "embed/asking.h"
#include "harn/sandbox.h"

namespace harn::cli {

// Before the plan: questions are part of it.
Status choose_asking(const Arguments& arguments, bool needs_terminal, Prepared& prepared);

// After it: nothing without --ask. Changes `options` so that the command does not hold a terminal that is asked at.
struct AskedRun {
  const Arguments& arguments;
  const Caller& caller;
  const Prepared& prepared;
  const Plan& plan;
};
Result<std::optional<embed::AskSettings>> ask_settings(const AskedRun& run, RunOptions& options);

}  // namespace harn::cli

// SPDX-License-Identifier: Apache-2.0
// One run as events for an audit sink: its start before the command starts, its end after it ended.
#pragma once

#include "harn/sandbox.h"

namespace harn::sandbox {

// An error when the profile does not let a command run that is not recorded.
Status record_start(const Plan& plan, const RunOptions& options, const std::string& run_id);

// The command has run, so the sink itself is the only one who can complain.
void record_end(const RunOptions& options, const Outcome& outcome, const std::string& plan_digest, const std::string& run_id);
void record_no_start(const RunOptions& options, const Error& error, const std::string& run_id);

}  // namespace harn::sandbox

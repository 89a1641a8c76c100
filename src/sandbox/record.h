// SPDX-License-Identifier: Apache-2.0
// One run as events for an audit sink: its start before the command starts, its end after it ended.
#pragma once

#include "harn/sandbox.h"

namespace harn::sandbox {

// Why it is not recorded; empty when it is. An error when the profile does not let such a command run.
Result<std::string> record_start(const Plan& plan, const RunOptions& options, const std::string& run_id);

// The command has run, so that its outcome can only say what is missing.
void record_end(const RunOptions& options, Outcome& outcome, const std::string& plan_digest, const std::string& run_id);
void record_no_start(const RunOptions& options, const Error& error, const std::string& run_id);

}  // namespace harn::sandbox

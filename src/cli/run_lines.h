// SPDX-License-Identifier: Apache-2.0
// What a run says besides the command's own output, and where its receipt goes: the same on every system.
#pragma once

#include <optional>
#include <string>

#include "cli/args.h"
#include "cli/prepare.h"
#include "harn/outcome.h"
#include "host/user_files.h"

namespace harn::cli {

// HARN_PRETEND makes a host weaker than it is; whoever reads the answer should know.
std::string pretence_line(const Caller& caller);
// Before the command starts: gaps, what the ceiling took, denials of nothing, what was found in the project.
std::string lines_before(const Plan& plan, const Prepared& prepared, const Caller& caller);
// After it: the limit it met, what is left, what appeared.
std::string lines_after(const Outcome& outcome, const Plan& plan);
// What it could not reach, with the flag that would change it.
std::string network_lines(const Outcome& outcome);

// Everything as JSON.
void answer_in_json(Outcome outcome, const Caller& caller, Reply& reply);

// `what` goes to a place that commands may have made a link to somewhere else.
Status check_no_planted_link(std::string_view what, const AbsPath& path, const Prepared& prepared);

Result<std::optional<host::HeldPlace>> receipt_place(const Arguments& arguments, const Prepared& prepared);
void keep_receipt(const host::HeldPlace& place, const Outcome& outcome, Reply& reply);

}  // namespace harn::cli

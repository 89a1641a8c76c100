// SPDX-License-Identifier: Apache-2.0
// Paths on the command line that change nothing, most often because they are mistyped. A narrowing
// that somebody believes in and that is not there must not stay silent.
#pragma once

#include <string>
#include <vector>

#include "cli/args.h"
#include "cli/prepare.h"

namespace harn::cli {

// Grants that open nothing, because something built in stays closed; known once the rules are.
Result<std::vector<std::string>> flags_in_vain(const Arguments& arguments, const Prepared& prepared);

// One note for each --deny of nothing and each --unprotect that lifts nothing.
Result<std::vector<std::string>> idle_flag_notes(const Arguments& arguments, const Prepared& prepared);

}  // namespace harn::cli

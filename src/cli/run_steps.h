// SPDX-License-Identifier: Apache-2.0
// Steps that every verb shares that runs a command.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/args.h"
#include "harn/outcome.h"
#include "harn/plan.h"

namespace harn::cli {

int exit_code_of(const Outcome& outcome);

// For hosts whose resolver is not in /etc/resolv.conf, and for tests.
std::vector<std::string> named_resolvers(const Caller& caller);

}  // namespace harn::cli

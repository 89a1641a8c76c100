// SPDX-License-Identifier: Apache-2.0
// What 'harn learn' says to people, and what it asks them.
#pragma once

#include <string>
#include <vector>

#include "cli/args.h"
#include "learn/needs.h"
#include "learn/unused.h"

namespace harn::cli {

// "harn: learn: run 3: 2 refused, more to grant"
std::string progress_line(std::size_t run, std::size_t refused, bool more);
// What was asked for and is not granted, with the flag that would.
std::string withheld_lines(const std::vector<learn::Withheld>& withheld);
std::string unused_lines(const std::vector<learn::UnusedGrant>& unused, bool pruned);
// The end of what a command that failed said.
std::string last_words(const Outcome& outcome);

// At a terminal, once for each: true when somebody said yes to any.
bool ask_for_withheld(const Caller& caller, std::size_t from, learn::Needs& needs);

}  // namespace harn::cli

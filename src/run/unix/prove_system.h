// SPDX-License-Identifier: Apache-2.0
// Tries what this system confines with: a child must be refused what it is not given, and not be refused what it is.
#pragma once

#include <vector>

#include "harn/outcome.h"
#include "harn/prove.h"

namespace harn::run {

// With an entry in `tools` for everything a backend needs. An error where nothing could be tried.
Result<std::vector<Finding>> prove_system(HostFacts& facts);

// Two directories: what the child is given, and what it is not.
struct Ground {
  AbsPath inside = {};   // with a file "known"
  AbsPath outside = {};  // with a file "secret"
};
// What it does there: 0 = as it should be, 10 = what is given cannot be read, 11 = what is not given can.
std::vector<std::string> reading_words(const Ground& ground);
// In words, from the exit code of that.
Finding reading_finding(std::string mechanism, const Result<Outcome>& ended, std::string seen);

}  // namespace harn::run

// SPDX-License-Identifier: Apache-2.0
// What decide() means on macOS, where some paths have two names and a directory is moved with everything in it.
#pragma once

#include <string>
#include <vector>

#include "harn/policy.h"
#include "support/path_verdict.h"

namespace harn::test {

// The two names of what lies in /tmp, /var and /etc.
std::vector<std::string> spellings(const std::string& path);

// The nearest rule among those for every name of the path; at one place deny beats write beats read.
const PathRule* nearest_by_any_name(const PathRules& rules, const AbsPath& path);

// Every name of every place that is less than writable.
std::vector<AbsPath> guarded_places(const PathRules& rules);

// Removing or moving a directory takes along what is beneath it, so all of that must be writable.
PathVerdict decided_on_macos(const PathRules& rules, const std::vector<AbsPath>& guarded, const AbsPath& path);

}  // namespace harn::test

// SPDX-License-Identifier: Apache-2.0
// Path rules as Seatbelt rules. "The nearest rule decides" becomes "the last rule decides" by writing
// parents before children. Seatbelt compares paths as text, so what needs care is one file with two names.
#pragma once

#include <vector>

#include "harn/policy.h"
#include "plan/macos/sbpl_text.h"

namespace harn::plan {

// Where the kernel really keeps a path: /tmp, /var and /etc are links into /private, and everything
// on the data volume also answers to a name beneath /System/Volumes/Data.
AbsPath macos_resolved(const AbsPath& path);

// Every name by which a resolved path can be reached. Seatbelt judges each spelling on its own.
std::vector<std::string> macos_names(const AbsPath& resolved);

// The rules with resolved paths, sorted; of two rules for one place deny beats write beats read.
std::vector<PathRule> macos_resolved(const PathRules& rules);

std::vector<SbplRule> seatbelt_path_rules(const PathRules& rules);

}  // namespace harn::plan

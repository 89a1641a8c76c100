// SPDX-License-Identifier: Apache-2.0
// What AppContainer and pledge/unveil both cannot say, in one wording: absent names, names that move
// with their directory, deleting apart from writing, one host apart from all hosts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harn/plan.h"

namespace harn::plan {

// A gap about paths exists only where there are such paths.
void open_gap_at(Coverage& coverage, Gap gap, Enforcement severity);

// Protected names that are absent and can be created.
void cover_unguarded_names(std::vector<AbsPath> paths, Coverage& coverage);

// Denied paths that are absent and would be readable if they were created.
void cover_absent_denials(const PathRules& rules, const std::vector<AbsPath>& paths, Coverage& coverage);

// Guarded paths whose surrounding directory can be moved away.
void cover_movable(std::vector<AbsPath> paths, Coverage& coverage);

// Writing and deleting can only be granted together.
void cover_joint_deletes(const PathRules& rules, Coverage& coverage);

// A network that is open as a whole or closed as a whole. `mechanism` begins a sentence.
void cover_whole_network(const Policy& policy, std::string layer, std::string_view mechanism, Coverage& coverage);

}  // namespace harn::plan

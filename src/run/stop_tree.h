// SPDX-License-Identifier: Apache-2.0
// Ending a tree that has no pid namespace of its own: orphans come to us because we asked for them,
// and are ended until none is left.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace harn::run {

// Oldest first; empty when /proc does not tell.
std::vector<pid_t> children_of(pid_t pid);

// Kills and reaps every descendant of this process. Only for a process that has no other children.
// Answers how many there were.
std::uint64_t end_descendants();

}  // namespace harn::run

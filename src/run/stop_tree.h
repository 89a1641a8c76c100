// SPDX-License-Identifier: Apache-2.0
// Ending a tree that has no pid namespace of its own: orphans come to us because we asked for them,
// and are ended until none is left.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace harn::run {

// Oldest first; empty when /proc does not tell.
std::vector<pid_t> children_of(pid_t pid);

// Takes up to a few hundred ended children other than `command` from the list of processes, so that a
// tree that sheds orphans does not fill it. Answers whether there may be more.
bool reap_orphans(pid_t command, const std::function<void(const rusage&)>& used);

struct EndedTree {
  std::uint64_t killed = 0;
  std::vector<pid_t> left = {};  // still there when patience was over
};

// Kills and reaps every descendant of this process. Only for a process that has no other children.
EndedTree end_descendants(std::chrono::milliseconds patience = std::chrono::seconds(10));

}  // namespace harn::run

// SPDX-License-Identifier: Apache-2.0
// Which processes live, seen from outside: for tests about what must not survive.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace harn::test {

// Live processes with `mark` in their words or environment; zombies have neither and wait only for their parent.
std::vector<pid_t> processes_named(std::string_view mark);
// Ended, reaped or not.
bool has_ended(pid_t pid);
// Asks until it is so; false when it never became so.
bool await(const std::function<bool()>& condition);

}  // namespace harn::test

// SPDX-License-Identifier: Apache-2.0
// Two texts compared line by line, told the way `diff -u` tells it.
#pragma once

#include <string>
#include <string_view>

namespace harn::workspace {

// Without the two header lines; empty when they are equal.
std::string unified_diff(std::string_view before, std::string_view after);

// A text has no NUL in it.
bool is_text(std::string_view content);

}  // namespace harn::workspace

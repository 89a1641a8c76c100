// SPDX-License-Identifier: Apache-2.0
// The content of a file or a link, compared and copied between two trees.
#pragma once

#include <string>

#include "workspace/state.h"

namespace harn::workspace {

// Both are there and have the same kind; true when nobody could tell them apart but by times and owner.
Result<bool> same_content(int left, const std::string& left_name, int right, const std::string& right_name);
// A new name in `to`; mode and time of modification come along. Clones where the file system can.
Status copy_entry(int from, const std::string& name, const State& state, int to, const std::string& new_name);

}  // namespace harn::workspace

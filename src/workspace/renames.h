// SPDX-License-Identifier: Apache-2.0
// Which of the files that appeared are those that went: told by their content.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "workspace/changes.h"

namespace harn::workspace {

// New path → old path. Every path at most once; only files with content, the same in both, and the same mode.
Result<std::map<std::string, std::string>> find_renames(const Layer& layer, const std::vector<Change>& changes);

}  // namespace harn::workspace

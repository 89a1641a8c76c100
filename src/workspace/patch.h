// SPDX-License-Identifier: Apache-2.0
// One change as a patch: what `git apply` or `patch` would need to do the same.
#pragma once

#include <string>
#include <string_view>

#include "workspace/changes.h"

namespace harn::workspace {

// With its header; `name` is how the path is shown. What is no text, or too long to be shown, is only named.
Result<std::string> patch_of(const Layer& layer, const Change& change, std::string_view name);

// The same content under another name.
std::string rename_text(std::string_view before, std::string_view now);

}  // namespace harn::workspace

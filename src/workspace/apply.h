// SPDX-License-Identifier: Apache-2.0
// Puts changes into the tree of the host, one path in one step each, and never over something that
// somebody else has changed.
#pragma once

#include <string>
#include <vector>

#include "workspace/changes.h"

namespace harn::workspace {

struct Applied {
  std::size_t done = 0;
  std::vector<Change> left = {};  // with the reason in `conflict`
};

// In an order that works: what is deleted goes first, the deepest first, then the rest from above.
// `note` is a file that says which path is being changed, for recover().
Result<Applied> apply_changes(const Layer& layer, Manifest& manifest, std::vector<Change> changes, const AbsPath& note);

// After an interruption: finishes or undoes the one path that was being changed.
Status recover(const Layer& layer, const Manifest& manifest, const AbsPath& note);

}  // namespace harn::workspace

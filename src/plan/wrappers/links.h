// SPDX-License-Identifier: Apache-2.0
// Links on the way to a path. A wrapper program follows a link where it mounts or hides, and then
// covers or opens what the link leads to instead of the name the policy means.
#pragma once

#include <optional>

#include "harn/host.h"

namespace harn::plan {

// The innermost link at or above `path`, beneath `above`.
inline std::optional<AbsPath> link_below(const HostFacts& facts, const AbsPath& above, const AbsPath& path) {
  for (auto at = path; at != above && !at.is_root(); at = at.parent()) {
    const auto it = facts.paths.find(at.text());
    if (it != facts.paths.end() && it->second.link_target) return at;
  }
  return std::nullopt;
}

}  // namespace harn::plan

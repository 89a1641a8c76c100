// SPDX-License-Identifier: Apache-2.0
// Writes a readable region that holds denied paths as its parts: everything in it except the way to
// the denials. For mechanisms that can only grant; needs to know what the directories on the way hold.
#pragma once

#include <vector>

#include "harn/policy.h"

namespace harn::plan {

// More rules than this cost more at every start than the region is worth.
inline constexpr std::size_t max_parts = 4096;

struct Parts {
  std::vector<PathRule> rules = {};  // sorted; a region that was split has access none
  std::vector<AbsPath> split = {};   // directories granted only by their entries: not listable

  bool operator==(const Parts&) const = default;
};

// A denial stays beneath a granted rule where splitting is impossible: inside a writable region (new
// names must stay possible), where nobody listed a directory on the way, or past max_parts.
Parts around_denials(const PathRules& rules, const HostFacts& facts);

}  // namespace harn::plan

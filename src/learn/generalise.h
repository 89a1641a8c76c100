// SPDX-License-Identifier: Apache-2.0
// From the paths a command was seen to use to grants that hold for its next run as well: a directory in
// place of many files in it, and in place of one version of something the directory of all its versions.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "harn/policy.h"

namespace harn::learn {

// More than this many names of one directory become the directory.
inline constexpr std::size_t most_siblings = 10;

using Grants = std::map<AbsPath, Access>;

struct Bounds {
  std::function<bool(const AbsPath&)> is_too_wide = {};  // no grant becomes one of these
  std::vector<AbsPath> version_places = {};              // where versions of things are kept; nothing rises above these
};

Grants generalise(Grants exact, const Bounds& bounds);

// "v18.2.0" "cpython-3.12.1-linux" "index.crates.io-6f17d22bba15001f": another one takes its place some day.
bool looks_versioned(std::string_view name);

}  // namespace harn::learn

// SPDX-License-Identifier: Apache-2.0
// TOML out, for trees that policies make: no null, no list of tables at the end of a path.
#pragma once

#include <string>

#include "base/value.h"

namespace harn::policy {

// `root` is an object. Plain members first, then one [table] per object; objects inside lists inline.
std::string print_toml(const base::Value& root);

}  // namespace harn::policy

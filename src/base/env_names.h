// SPDX-License-Identifier: Apache-2.0
// Names of variables where letter case does not count, as on Windows.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/text.h"

namespace harn::base {

inline bool same_ignoring_case(std::string_view a, std::string_view b) { return lower_ascii(a) == lower_ascii(b); }

// However it is spelled; null when there is none.
inline const std::string* find_ignoring_case(const std::map<std::string, std::string>& variables, std::string_view name) {
  for (const auto& [key, value] : variables)
    if (same_ignoring_case(key, name)) return &value;
  return nullptr;
}

}  // namespace harn::base

// SPDX-License-Identifier: Apache-2.0
// One table per enum: enumerator text is wire text. A type opts in by specialising EnumNames.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace harn::base {

// Specialise with:  static constexpr std::array names{std::pair{Profile::worktree, "worktree"sv}, …};
template <class E>
struct EnumNames;

template <class E>
constexpr std::string_view enum_name(E value) {
  for (const auto& [candidate, name] : EnumNames<E>::names)
    if (candidate == value) return name;
  return "?";
}

template <class E>
constexpr std::optional<E> enum_value(std::string_view text) {
  for (const auto& [candidate, name] : EnumNames<E>::names)
    if (name == text) return candidate;
  return std::nullopt;
}

}  // namespace harn::base

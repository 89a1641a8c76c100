// SPDX-License-Identifier: Apache-2.0
// Component-wise order of path texts: '/' sorts below every other byte, so that a directory's subtree
// is contiguous and stands right after it. Tables sorted this way can be searched without a copy.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace harn::base {

// Where the texts first differ. Paths share long beginnings and are compared more than anything
// else, so eight bytes at a time.
constexpr std::size_t first_difference(std::string_view a, std::string_view b) {
  const std::size_t size = a.size() < b.size() ? a.size() : b.size();
  std::size_t at = 0;
  if (!std::is_constant_evaluated() && std::endian::native == std::endian::little) {
    for (; at + 8 <= size; at += 8) {
      std::uint64_t x = 0;
      std::uint64_t y = 0;
      std::memcpy(&x, a.data() + at, 8);
      std::memcpy(&y, b.data() + at, 8);
      if (x != y) return at + static_cast<std::size_t>(std::countr_zero(x ^ y)) / 8;
    }
  }
  while (at < size && a[at] == b[at]) ++at;
  return at;
}

constexpr std::strong_ordering path_order(std::string_view a, std::string_view b) {
  const auto at = first_difference(a, b);
  if (at == a.size() || at == b.size()) return a.size() <=> b.size();
  const auto rank = [](char c) { return c == '/' ? 0 : static_cast<int>(static_cast<unsigned char>(c)) + 1; };
  return rank(a[at]) <=> rank(b[at]);
}

// True when `path` is `above` or lies beneath it. Both absolute, or both relative to one directory.
constexpr bool path_contains(std::string_view above, std::string_view path) {
  if (!path.starts_with(above)) return false;
  return path.size() == above.size() || above.ends_with('/') || path[above.size()] == '/';
}

}  // namespace harn::base

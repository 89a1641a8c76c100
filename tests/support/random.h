// SPDX-License-Identifier: Apache-2.0
// A small seeded generator: the same seed gives the same case on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace harn::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();
  std::size_t below(std::size_t bound);  // 0 … bound-1
  bool chance(unsigned percent);

  template <class T>
  const T& pick(std::span<const T> items) {
    return items[below(items.size())];
  }
  template <class T>
  const T& pick(const std::vector<T>& items) {
    return items[below(items.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace harn::test

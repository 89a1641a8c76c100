// SPDX-License-Identifier: Apache-2.0
#include "support/random.h"

namespace harn::test {

// SplitMix64: tiny, and good enough to scatter test cases.
std::uint64_t Random::next() {
  state_ += 0x9E3779B97F4A7C15u;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

std::size_t Random::below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }

bool Random::chance(unsigned percent) { return below(100) < percent; }

}  // namespace harn::test

// SPDX-License-Identifier: Apache-2.0
// How long the parts of a run took, for its receipt.
#pragma once

#include <chrono>
#include <cstdint>

namespace harn::sandbox {

using Clock = std::chrono::steady_clock;

inline std::uint64_t micros_since(Clock::time_point start) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count());
}

}  // namespace harn::sandbox

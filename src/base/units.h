// SPDX-License-Identifier: Apache-2.0
// Sizes and durations as people write them. Exact or refused: nothing is rounded.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "harn/result.h"

namespace harn::base {

// Bytes, or a number with K, M, G, T (also KiB, MiB, GiB, TiB), all powers of 1024, in any case.
Result<std::uint64_t> parse_size(std::string_view text);

// The shortest of those that is exact: 536870912 → "512M".
std::string size_text(std::uint64_t bytes);

// Seconds ("30", "1.5"), or a number with ms, s, m or h.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

// The largest unit that leaves a whole number: 90 s → "90s", 120 s → "2m".
std::string duration_text(std::chrono::milliseconds duration);

}  // namespace harn::base

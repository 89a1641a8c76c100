// SPDX-License-Identifier: Apache-2.0
// The beginning of a tape: its format, and in two slots of fixed size where it ends. What is being written is announced in one slot
// before it is written, and settled in the other after, as the anchor of an audit log does it; but inside the one file that a tape is.
// Every line is JSON. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "audit/line.h"
#include "harn/result.h"

namespace harn::tape {

inline constexpr std::size_t format_bytes = 64;
inline constexpr std::size_t slot_bytes = 256;
inline constexpr std::size_t head_bytes = format_bytes + 2 * slot_bytes;
inline constexpr std::size_t settled_at = format_bytes;
inline constexpr std::size_t announced_at = format_bytes + slot_bytes;

struct Slot {
  std::uint64_t generation = 0;
  audit::Head head = {};  // the last line
  std::uint64_t size = head_bytes;

  bool operator==(const Slot&) const = default;
};

struct TapeHead {
  std::string salt = {};  // of the digests of variables; empty on a tape of the first format
  Slot settled = {};
  std::optional<Slot> announced = {};  // only when somebody was in the middle

  bool operator==(const TapeHead&) const = default;
};

std::string print_format(std::string_view salt);  // exactly format_bytes
std::string make_salt();
std::string print_slot(const Slot& slot, std::string_view salt);  // exactly slot_bytes
std::optional<Slot> parse_slot(std::string_view text, std::string_view salt);

// An error for what is no tape, a tape of another release, or one whose slots were damaged.
Result<TapeHead> parse_head(std::string_view text);

}  // namespace harn::tape

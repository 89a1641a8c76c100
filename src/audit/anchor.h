// SPDX-License-Identifier: Apache-2.0
// The anchor: one small file that says where the log ends, so that nobody can shorten it unseen. It is
// overwritten in place (a full disk cannot stop that, and the file stays the one everybody locks), in two
// slots: what is being written is announced in one before it is written, and settled in the other after.
// Whatever moment a writer dies at, one of them is whole and tells what to expect. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "audit/line.h"

namespace harn::audit {

inline constexpr std::size_t slot_bytes = 1024;
inline constexpr std::size_t anchor_bytes = 3 * slot_bytes;  // settled, announced, how far it reached the disk

// An end of the log: the last event, and the file and size with which it ends.
struct End {
  Head head = {};
  std::uint64_t segment = 1;  // the file's name: the number of its first event
  std::uint64_t size = 0;

  bool operator==(const End&) const = default;
};

struct Slot {
  std::uint64_t generation = 0;
  End end = {};
  std::uint64_t first = 1;                    // the oldest event that retention left
  std::string before_first = genesis_hash();  // and the hash of the one before it
  std::int64_t segment_began_ms = 0;
  std::int64_t real_ms = 0;  // when this was written, by the calendar and since the machine started
  std::int64_t boot_ms = 0;
  std::optional<End> announced = {};  // what the log will be when the writer is done
  std::string key = "-";              // public half of the key it is sealed with
  std::string seal = "-";

  bool operator==(const Slot&) const = default;
};

// Without its seal and its own check sum: what a seal signs.
std::string sealed_text(const Slot& slot);
// Exactly slot_bytes.
std::string print_slot(const Slot& slot);
std::optional<Slot> parse_slot(std::string_view text);

struct Anchor {
  std::optional<Slot> settled = {};    // unset = it cannot be read
  std::optional<Slot> announced = {};  // only when it is newer than what is settled
  std::uint64_t synced = 0;            // events known to have reached the disk

  bool operator==(const Anchor&) const = default;
};

Anchor parse_anchor(std::string_view text);
std::string print_synced(std::uint64_t count);  // exactly slot_bytes

// Whether the machine was started again since the slot was written.
bool restarted_since(const Slot& slot, std::int64_t real_ms, std::int64_t boot_ms);

}  // namespace harn::audit

// SPDX-License-Identifier: Apache-2.0
// One event as one line: canonical JSON with its own hash in its place. Pure.
#pragma once

#include <string>
#include <string_view>

#include "harn/audit.h"

namespace harn::audit {

inline constexpr std::size_t hash_digits = 64;
inline constexpr std::size_t longest_line = 1u << 18;
inline constexpr std::size_t longest_data = longest_line / 2;

std::string genesis_hash();  // 64 zeros

// Where a chain stands: what the next line has to continue.
struct Head {
  std::uint64_t count = 0;
  std::string hash = genesis_hash();

  bool operator==(const Head&) const = default;
};

// "2026-11-15T12:44:48.123456Z" from microseconds since 1970.
std::string timestamp_text(std::int64_t micros);

// The line of the event after `head`, without its newline; `head` moves on to it.
std::string make_line(Head& head, const AuditEvent& event, std::string_view session_id, std::string_view timestamp);
// The same for other files that are chained the same way: `data` is a canonical JSON object, `type` a plain word.
std::string make_line(Head& head, std::string_view type, std::string_view data, std::string_view session_id, std::string_view timestamp);

// A line that is exactly what make_line() would have written, its hash included. Says nothing about the
// line before.
Result<AuditRecord> parse_line(std::string_view line, std::size_t longest = longest_line);

// Whether the record continues the chain; moves on when it does.
Status follow(Head& head, const AuditRecord& record);

// Text that JSON can carry: bytes that are no UTF-8 become \xNN.
std::string visible(std::string_view text);

}  // namespace harn::audit

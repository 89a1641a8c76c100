// SPDX-License-Identifier: Apache-2.0
#include "audit/line.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "audit/names.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"

namespace harn {

std::string_view name_of(AuditEventType type) { return base::enum_name(type); }
std::optional<AuditMode> parse_audit_mode(std::string_view text) { return base::enum_value<AuditMode>(text); }

}  // namespace harn

namespace harn::audit {
namespace {

std::unexpected<Error> broken(std::string message) {
  return fail(Error{.code = ErrorCode::protocol, .stage = Stage::audit, .message = std::move(message)});
}

// Members in the order of their names, which is the order of the canonical form. Only `data` comes from
// outside; the other texts are ours and need no escape.
std::string before_hash(const AuditRecord& record) {
  return fmt::format(R"({{"data":{},"event_id":"{}","event_type":"{}",)", record.data, record.event_id, record.event_type);
}

std::string after_hash(const AuditRecord& record) {
  return fmt::format(R"("prev_hash":"{}","seq":{},"session_id":"{}","timestamp":"{}"}})", record.prev_hash, record.seq, record.session_id,
                     record.timestamp);
}

bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == ':';
  });
}

bool is_hash(std::string_view text) {
  return text.size() == hash_digits && std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// The text members by name; null stands for a missing or wrong one.
const std::string* text_member(const base::Value& value, std::string_view name) {
  const auto* member = value.find(name);
  return member != nullptr && member->is(base::ValueKind::string) && is_plain(member->string()) ? &member->string() : nullptr;
}

bool read_texts(const base::Value& value, AuditRecord& record) {
  struct Row {
    std::string_view name;
    std::string AuditRecord::* to;
  };
  static constexpr Row rows[] = {
      {"event_id", &AuditRecord::event_id},   {"event_type", &AuditRecord::event_type}, {"hash", &AuditRecord::hash},
      {"prev_hash", &AuditRecord::prev_hash}, {"session_id", &AuditRecord::session_id}, {"timestamp", &AuditRecord::timestamp}};
  for (const auto& row : rows) {
    const auto* text = text_member(value, row.name);
    if (text == nullptr) return false;
    record.*row.to = *text;
  }
  return is_hash(record.hash) && is_hash(record.prev_hash);
}

}  // namespace

std::string genesis_hash() { return std::string(hash_digits, '0'); }

std::string timestamp_text(std::int64_t micros) {
  using namespace std::chrono;
  const sys_time<microseconds> when{microseconds(micros)};
  const auto day = floor<days>(when);
  const year_month_day date{day};
  const hh_mm_ss time{when - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()), time.hours().count(), time.minutes().count(), time.seconds().count(),
                     time.subseconds().count());
}

std::string make_line(Head& head, const AuditEvent& event, std::string_view session_id, std::string_view timestamp) {
  return make_line(head, name_of(event.type), event.data, session_id, timestamp);
}

std::string make_line(Head& head, std::string_view type, std::string_view data, std::string_view session_id, std::string_view timestamp) {
  AuditRecord record{.seq = head.count + 1,
                     .timestamp = std::string(timestamp),
                     .event_type = std::string(type),
                     .session_id = std::string(session_id),
                     .data = std::string(data),
                     .prev_hash = head.hash};
  // Different in every log and for every event, and it costs no question to the kernel.
  record.event_id =
      "evt-" +
      base::sha256_hex(fmt::format("{} {} {} {}", record.prev_hash, record.seq, record.timestamp, record.session_id)).substr(0, 16);
  const auto before = before_hash(record);
  const auto after = after_hash(record);
  head.hash = base::sha256_hex(before + after);
  ++head.count;
  return fmt::format(R"({}"hash":"{}",{})", before, head.hash, after);
}

Result<AuditRecord> parse_line(std::string_view line, std::size_t longest) {
  if (line.size() > longest) return broken("the line is too long for an event");
  const auto value = base::parse_json(line);
  if (!value) return broken("the line is no JSON: " + value.error().message);
  constexpr std::size_t members = 8;
  const auto* data = value->find("data");
  const auto* seq = value->find("seq");
  AuditRecord record;
  if (!value->is(base::ValueKind::object) || value->object().size() != members || data == nullptr || !data->is(base::ValueKind::object) ||
      seq == nullptr || !seq->is(base::ValueKind::integer) || seq->integer() < 1 || !read_texts(*value, record))
    return broken("the line is no event");
  record.seq = static_cast<std::uint64_t>(seq->integer());
  record.data = base::canonical_json(*data);
  const auto before = before_hash(record);
  const auto after = after_hash(record);
  if (line != fmt::format(R"({}"hash":"{}",{})", before, record.hash, after)) return broken("the line is not written as events are");
  if (base::sha256_hex(before + after) != record.hash) return broken("the event was changed: it does not have the hash it names");
  return record;
}

Status follow(Head& head, const AuditRecord& record) {
  if (record.seq != head.count + 1) return broken(fmt::format("event {} stands where {} belongs", record.seq, head.count + 1));
  if (record.prev_hash != head.hash) return broken(fmt::format("event {} does not follow from the one before", record.seq));
  head = {.count = record.seq, .hash = record.hash};
  return {};
}

std::string visible(std::string_view text) {
  if (base::valid_utf8(text)) return std::string(text);
  std::string out;
  while (!text.empty()) {
    std::size_t length = 1;
    while (length < 4 && length < text.size() && !base::valid_utf8(text.substr(0, length))) ++length;
    if (base::valid_utf8(text.substr(0, length))) {
      out += text.substr(0, length);
    } else {
      length = 1;
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace harn::audit

namespace harn {

std::string audit_record_to_json(const AuditRecord& record) {
  return fmt::format(R"({}"hash":"{}",{})", audit::before_hash(record), record.hash, audit::after_hash(record));
}

std::string audit_csv_header() { return "seq,event_id,timestamp,event_type,session_id,data,prev_hash,hash\n"; }

std::string audit_record_to_csv(const AuditRecord& record) {
  std::string data;
  for (const char c : record.data) data += c == '"' ? "\"\"" : std::string(1, c);
  return fmt::format("{},{},{},{},{},\"{}\",{},{}\n", record.seq, record.event_id, record.timestamp, record.event_type, record.session_id,
                     data, record.prev_hash, record.hash);
}

}  // namespace harn

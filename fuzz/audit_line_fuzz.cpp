// SPDX-License-Identifier: Apache-2.0
// Any bytes are a line of the audit log or refused; what is accepted is exactly what a writer writes, and
// no other bytes are accepted for it. Anchors likewise. Redaction never lets a known secret through.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "audit/anchor.h"
#include "audit/line.h"
#include "base/json.h"

namespace {

using namespace harn;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_line(std::string_view text) {
  const auto record = audit::parse_line(text);
  if (!record) return require(!record.error().message.empty());
  require(audit_record_to_json(*record) == text);
  audit::Head head{.count = record->seq - 1, .hash = record->prev_hash};
  require(static_cast<bool>(audit::follow(head, *record)) && head.hash == record->hash);
}

// What a writer makes of any data is read back.
void check_written(std::string_view text) {
  const auto value = base::parse_json(text);
  if (!value || !value->is(base::ValueKind::object) || text.size() > 4096) return;
  audit::Head head;
  const AuditEvent event{.type = AuditEventType::denial, .data = base::canonical_json(*value), .canonical = true};
  const auto line = audit::make_line(head, event, "run-1", audit::timestamp_text(0));
  const auto record = audit::parse_line(line);
  require(record && record->data == event.data && record->hash == head.hash);
}

void check_anchor(std::string_view text) {
  if (const auto slot = audit::parse_slot(text)) require(audit::parse_slot(audit::print_slot(*slot)) == slot);
  static_cast<void>(audit::parse_anchor(text));
}

void check_redaction(std::string_view text) {
  const auto half = text.size() / 2;
  const std::string secrets[] = {std::string(text.substr(half))};
  const std::string words[] = {std::string(text), std::string(text.substr(0, half)) + secrets[0]};
  for (const auto& word : redacted_words(words, secrets)) {
    require(base::parse_json(base::canonical_json(base::Value(word))).has_value());
    // A secret that is itself a part of what stands in its place proves nothing.
    const bool telling = secrets[0].size() >= 4 && std::string_view("[redacted]").find(secrets[0]) == std::string_view::npos &&
                         secrets[0].find_first_of("[]\\") == std::string::npos;
    if (telling) require(word.find(secrets[0]) == std::string::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  check_line(text);
  check_written(text);
  check_anchor(text);
  check_redaction(text);
  return 0;
}

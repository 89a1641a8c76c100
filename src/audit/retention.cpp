// SPDX-License-Identifier: Apache-2.0
#include "audit/retention.h"

#include <algorithm>

#include "audit/event.h"

namespace harn::audit {
namespace {

constexpr std::int64_t oldest_file_ms = std::int64_t{30} * 24 * 3600 * 1000;
constexpr std::int64_t files_per_age = 4;

std::int64_t longest_file_ms(const AuditSettings& settings) {
  return settings.keep_age ? std::min(oldest_file_ms, std::int64_t{settings.keep_age->count()} / files_per_age) : oldest_file_ms;
}

}  // namespace

bool begins_new_file(const Slot& slot, const AuditSettings& settings, std::int64_t now_ms) {
  return slot.end.size != 0 && (slot.end.size >= settings.rotate_bytes || now_ms - slot.segment_began_ms > longest_file_ms(settings));
}

std::vector<Segment> surplus(const std::vector<Segment>& segments, const AuditSettings& settings, std::int64_t now_ms) {
  std::uint64_t total = 0;
  for (const auto& segment : segments) total += segment.size;
  std::vector<Segment> out;
  for (const auto& segment : segments) {
    const bool too_old = settings.keep_age && now_ms - segment.written_ms > settings.keep_age->count();
    if (total <= settings.keep_bytes && !too_old) break;
    total -= segment.size;
    out.push_back(segment);
  }
  return out;
}

Result<Pruning> plan_pruning(const AbsPath& directory, const AuditSettings& settings, std::int64_t now_ms, Slot& slot) {
  HARN_TRY(segments, list_segments(directory));
  // What an interrupted removal left is no part of the log any more.
  const auto kept = std::ranges::find_if(segments, [&](const Segment& segment) { return segment.first >= slot.first; });
  Pruning pruning{.segments = {segments.begin(), kept}};
  segments.erase(segments.begin(), kept);
  const auto gone = surplus(segments, settings, now_ms);
  if (gone.empty()) return pruning;
  Head before_first = slot.end.head;
  if (gone.size() < segments.size()) {
    const auto& next = segments[gone.size()];
    Result<AuditRecord> first = fail(Error{.code = ErrorCode::protocol, .stage = Stage::audit, .message = "the file is empty"});
    HARN_OK(for_each_line(segment_file(directory, next.first), 0, [&](std::string_view line, std::uint64_t, bool) {
      first = parse_line(line);
      return false;
    }));
    if (!first) return fail(std::move(first).error());
    before_first = {.count = next.first - 1, .hash = first->prev_hash};
  }
  base::Value data;
  data.set("removed_from", slot.first);
  data.set("removed_to", before_first.count);
  data.set("removed_hash", before_first.hash);
  data.set("files", static_cast<std::uint64_t>(gone.size()));
  slot.first = before_first.count + 1;
  slot.before_first = before_first.hash;
  pruning.event = make_event(AuditEventType::log_pruned, data);
  pruning.segments.insert(pruning.segments.end(), gone.begin(), gone.end());
  return pruning;
}

}  // namespace harn::audit

// SPDX-License-Identifier: Apache-2.0
#include "audit/repair.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include <fmt/format.h>

#include "audit/event.h"
#include "audit/files.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "sys/files.h"

namespace harn::audit {
namespace {

// The whole lines of a file that continue a chain, and what stands behind them.
struct Tail {
  Head head = {};
  std::uint64_t size = 0;        // where they end
  std::uint64_t rest_bytes = 0;  // behind them
  std::string rest_hash = {};
  bool rest_is_torn = true;  // one unfinished line, as a writer leaves it that dies
  Slot slot = {};            // with what the lines themselves say about the log
};

Result<Tail> read_tail(const AbsPath& file, std::uint64_t from, const Head& head, const Slot& slot) {
  Tail tail{.head = head, .size = from, .slot = slot};
  const auto taken = for_each_line(file, from, [&](std::string_view line, std::uint64_t end, bool whole) {
    const auto record = whole ? parse_line(line) : Result<AuditRecord>(fail(Error{}));
    if (record && follow(tail.head, *record)) {
      tail.size = end;
      note_own_event(*record, tail.slot);
      return true;
    }
    tail.rest_is_torn = !whole;
    tail.rest_hash = base::sha256_hex(line);
    return false;
  });
  HARN_OK(taken);
  const sys::UniqueFd fd(::open(file.text().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return fail(sys::os_failure("open", file.text(), errno, Stage::audit));
  HARN_TRY(size, size_of(fd.get(), file));
  tail.rest_bytes = size > tail.size ? size - tail.size : 0;
  return tail;
}

AuditEvent repaired_event(std::string_view reason, const Slot& before, const Tail& tail) {
  base::Value data;
  data.set("reason", reason);
  data.set("anchored", before.end.head.count);
  data.set("anchored_hash", before.end.head.hash);
  data.set("kept", tail.head.count);
  data.set("lost", before.end.head.count > tail.head.count ? before.end.head.count - tail.head.count : 0);
  data.set("removed_bytes", tail.rest_bytes);
  if (!tail.rest_hash.empty()) data.set("removed_sha256", tail.rest_hash);
  return make_event(AuditEventType::log_repaired, data);
}

std::uint64_t size_in(const std::vector<Segment>& segments, std::uint64_t first) {
  const auto found = std::ranges::find(segments, first, &Segment::first);
  return found == segments.end() ? 0 : found->size;
}

// Every whole line after `from`, through as many files as there are.
Result<Tail> read_on(const AbsPath& directory, const std::vector<Segment>& segments, const Slot& slot, const End& from) {
  Tail tail{.head = from.head, .size = from.size, .slot = slot};
  tail.slot.end = from;
  for (const auto& segment : segments) {
    if (segment.first < from.segment) continue;
    if ((segment.first != from.segment && segment.first != tail.head.count + 1) || tail.rest_bytes != 0) break;
    HARN_TRY(next, read_tail(segment_file(directory, segment.first), segment.first == from.segment ? from.size : 0, tail.head, tail.slot));
    tail = std::move(next);
    tail.slot.end = {.head = tail.head, .segment = segment.first, .size = tail.size};
  }
  return tail;
}

Status cut_rest(const AbsPath& directory, const std::vector<Segment>& segments, const Tail& tail) {
  const auto& end = tail.slot.end;
  const auto file = segment_file(directory, end.segment);
  if (tail.rest_bytes != 0 && ::truncate(file.text().c_str(), static_cast<off_t>(end.size)) != 0)
    return fail(sys::os_failure("truncate", file.text(), errno, Stage::audit));
  // Nothing is thrown away that might tell somebody what happened.
  for (const auto& segment : segments) {
    const auto name = segment_file(directory, segment.first).text();
    if (segment.first > end.segment) std::rename(name.c_str(), (name + ".lost").c_str());
  }
  return {};
}

Result<Repaired> repaired_as(std::string_view reason, const AbsPath& directory, const std::vector<Segment>& segments, const Slot& before,
                             Tail tail) {
  HARN_OK(cut_rest(directory, segments, tail));
  auto event = repaired_event(reason, before, tail);
  return Repaired{.base = std::move(tail.slot), .event = std::move(event)};
}

// A writer died between its announcement and settling it. A second one may have died while it put that
// in order, so what is settled can lie further back than what the announcement begins with.
Result<Repaired> finish_announced(const AbsPath& directory, const std::vector<Segment>& segments, const Slot& slot, const End& to,
                                  std::string_view reason) {
  if (size_in(segments, slot.end.segment) < slot.end.size) return mismatch(directory, "it is shorter than it was");
  HARN_TRY(tail, read_on(directory, segments, slot, slot.end));
  const bool past = tail.head.count > to.head.count || tail.slot.end.segment > to.segment ||
                    (tail.slot.end.segment == to.segment && tail.size + tail.rest_bytes > to.size);
  if (past || !tail.rest_is_torn || (tail.head.count == to.head.count && tail.head.hash != to.head.hash))
    return mismatch(directory, "it holds what its last writer did not announce");
  return repaired_as(reason, directory, segments, slot, std::move(tail));
}

// What is left of the whole log from its first event on.
Result<Repaired> take_what_is_left(const AbsPath& directory, const std::vector<Segment>& segments, const Slot& slot, std::uint64_t synced) {
  const End start{.head = {.count = slot.first - 1, .hash = slot.before_first}, .segment = slot.first};
  HARN_TRY(tail, read_on(directory, segments, slot, start));
  if (tail.head.count < synced) return mismatch(directory, "events are gone that had reached the disk");
  return repaired_as("power_loss", directory, segments, slot, std::move(tail));
}

}  // namespace

std::unexpected<Error> mismatch(const AbsPath& directory, std::string_view detail) {
  return fail(Error{.code = ErrorCode::protocol,
                    .stage = Stage::audit,
                    .message = fmt::format("the audit log {} does not match its anchor: {}", base::quoted(directory.text()), detail),
                    .hint = "'harn audit verify' says where; move the directory away to begin a new log"});
}

void note_own_event(const AuditRecord& record, Slot& slot) {
  const bool pruned = record.event_type == name_of(AuditEventType::log_pruned);
  if (!pruned && record.event_type != name_of(AuditEventType::log_sealed)) return;
  const auto data = base::parse_json(record.data);
  if (!data) return;
  const auto text = [&](std::string_view name) {
    const auto* member = data->find(name);
    return member != nullptr && member->is(base::ValueKind::string) ? member->string() : std::string("-");
  };
  const auto* last = data->find("removed_to");
  if (pruned && last != nullptr && last->is(base::ValueKind::integer)) {
    slot.first = static_cast<std::uint64_t>(last->integer()) + 1;
    slot.before_first = text("removed_hash");
  }
  if (!pruned) slot.key = text("public_key");
}

Result<Repaired> repair(const AbsPath& directory, const Anchor& anchor, bool restarted) {
  if (!anchor.settled && !anchor.announced) return mismatch(directory, "the anchor cannot be read");
  HARN_TRY(segments, list_segments(directory));
  // The announcement repeats what was settled, for the case that settling anew was what was interrupted.
  auto slot = anchor.settled ? *anchor.settled : *anchor.announced;
  slot.announced.reset();
  if (anchor.announced) {
    slot.generation = anchor.announced->generation;
    auto finished =
        finish_announced(directory, segments, slot, *anchor.announced->announced, anchor.settled ? "interrupted" : "anchor_damaged");
    if (finished || !restarted) return finished;
  } else {
    const auto size = size_in(segments, slot.end.segment);
    if (size == slot.end.size) return Repaired{.base = slot};
    if (!restarted) return mismatch(directory, size < slot.end.size ? "it is shorter than it was" : "something was added to it");
  }
  return take_what_is_left(directory, segments, slot, anchor.synced);
}

}  // namespace harn::audit

// SPDX-License-Identifier: Apache-2.0
// Reading events for people and programs; whether they are true is verify_audit_log()'s question.
#include <cerrno>
#include <ctime>

#include <fmt/format.h>

#include "audit/files.h"
#include "audit/line.h"
#include "base/text.h"

namespace harn {
namespace {

using Take = std::function<bool(const AuditRecord&)>;

// Where reading stands: a place in one file.
struct Place {
  std::uint64_t segment = 0;
  std::uint64_t offset = 0;
  std::uint64_t line = 0;
};

// Goes on from `place` to the end of what is there. True = `take` wants more.
Result<bool> read_on(const AbsPath& directory, Place& place, const Take& take) {
  HARN_TRY(segments, audit::list_segments(directory));
  bool more = true;
  Status broken;
  for (const auto& segment : segments) {
    if (segment.first < place.segment) continue;
    if (segment.first > place.segment) place = {.segment = segment.first};
    const auto read = audit::for_each_line(audit::segment_file(directory, segment.first), place.offset,
                                           [&](std::string_view line, std::uint64_t end, bool whole) {
                                             if (!whole) return false;  // being written
                                             const auto record = audit::parse_line(line);
                                             ++place.line;
                                             if (!record) {
                                               broken = fail(record.error());
                                               broken.error().where = fmt::format("{}:{}", audit::segment_name(segment.first), place.line);
                                               broken.error().hint = "'harn audit verify' says more";
                                               return false;
                                             }
                                             place.offset = end;
                                             more = take(*record);
                                             return more;
                                           });
    // Retention may remove a file while it is read.
    if (!read && read.error().os_error != ENOENT) return fail(read.error());
    if (!broken) return fail(std::move(broken).error());
    if (!more) return false;
  }
  return true;
}

}  // namespace

Status read_audit_log(const AbsPath& directory, const Take& take) {
  Place place;
  HARN_TRY(segments, audit::list_segments(directory));
  if (segments.empty())
    return fail(Error{.code = ErrorCode::io,
                      .stage = Stage::audit,
                      .os_error = ENOENT,
                      .message = fmt::format("there is no audit log in {}", base::quoted(directory.text())),
                      .hint = "the first 'harn run' begins one"});
  HARN_OK(read_on(directory, place, take));
  return {};
}

Status follow_audit_log(const AbsPath& directory, std::uint64_t after_seq, const Take& take) {
  constexpr timespec pause = {.tv_sec = 0, .tv_nsec = 200'000'000};
  Place place;
  for (;;) {
    HARN_TRY(more, read_on(directory, place, [&](const AuditRecord& record) { return record.seq <= after_seq || take(record); }));
    if (!more) return {};
    ::nanosleep(&pause, nullptr);
  }
}

}  // namespace harn

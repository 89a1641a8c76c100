// SPDX-License-Identifier: Apache-2.0
// Reading a log as somebody who does not believe it: every line, every link, the beginning that retention
// left, the end that the anchor holds, and the seal on that.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include <fmt/format.h>

#include "audit/files.h"
#include "audit/repair.h"
#include "audit/seal.h"
#include "base/text.h"
#include "sys/files.h"

namespace harn {
namespace {

using audit::Head;
using audit::Segment;
using audit::Slot;

struct Expected {
  std::uint64_t seq = 0;
  std::string hash = {};
};

Result<std::optional<Expected>> parse_expected(const std::string& text) {
  if (text.empty()) return std::optional<Expected>();
  const auto colon = text.find(':');
  Expected out{.hash = colon == std::string::npos ? "" : text.substr(colon + 1)};
  const auto* end = text.data() + std::min(colon, text.size());
  const auto read = std::from_chars(text.data(), end, out.seq);
  if (read.ec == std::errc() && read.ptr == end && out.seq > 0 && out.hash.size() == audit::hash_digits) return std::optional(out);
  return fail(Error{.code = ErrorCode::invalid_command,
                    .stage = Stage::cli,
                    .message = fmt::format("{} does not name an event", base::quoted(text)),
                    .hint = "write SEQ:HASH, as 'harn audit verify' prints it"});
}

class Verification {
 public:
  Verification(const AbsPath& directory, const audit::Anchor& anchor, const std::string& key, std::optional<Expected> expected)
      : directory_(directory), anchor_(anchor), key_(key), expected_(std::move(expected)) {}

  // Of each file only what was there when the list was made.
  Result<AuditReport> run(std::vector<Segment> segments) {
    if (!anchor_.settled)
      return problem(anchor_.announced ? "the anchor is damaged; the next run puts it in order where a power failure explains it"
                                       : "the anchor cannot be read",
                     "anchor");
    const Slot& slot = *anchor_.settled;
    head_ = {.count = slot.first - 1, .hash = slot.before_first};
    report_.first_seq = slot.first;
    report_.removed_by_retention = slot.first - 1;
    report_.interrupted = anchor_.announced.has_value();
    noted_.first = 1;
    std::erase_if(segments, [&](const Segment& segment) { return segment.first < slot.first; });
    // A writer that died before its announcement may have made the next file; nothing is in it.
    while (!segments.empty() && segments.back().size == 0 && segments.back().first > slot.end.segment) segments.pop_back();
    for (const auto& segment : segments) {
      if (segment.first != head_.count + 1)
        return problem(fmt::format("the file that begins with event {} is missing", head_.count + 1), audit::segment_name(segment.first));
      HARN_OK(read_segment(segment));
      if (!report_.intact()) return report_;
    }
    check_end(slot);
    if (report_.intact()) check_beginning(slot);
    if (report_.intact()) check_seal(slot);
    if (report_.intact() && expected_)
      report_.problem = fmt::format("event {} is not what was expected: the log was replaced or rolled back", expected_->seq);
    return report_;
  }

 private:
  AuditReport problem(std::string text, std::string where) {
    report_.problem = std::move(text);
    report_.where = std::move(where);
    return report_;
  }

  Status read_segment(const Segment& segment) {
    const auto name = audit::segment_name(segment.first);
    std::uint64_t number = 0;
    size_ = 0;
    segment_ = segment.first;
    const auto take_line = [&](std::string_view line, std::uint64_t end, bool whole) {
      const auto where = fmt::format("{}:{}", name, ++number);
      size_ = end;
      if (!whole) {
        // What an interrupted writer left; only where one is known to have been.
        if (!report_.interrupted || head_.count < anchor_.settled->end.head.count) problem("the last line is not whole", where);
        return false;
      }
      auto record = audit::parse_line(line);
      if (!record) return problem(record.error().message, where), false;
      if (const auto next = audit::follow(head_, *record); !next) return problem(next.error().message, where), false;
      return take(std::move(*record), where);
    };
    return audit::for_each_line(audit::segment_file(directory_, segment.first), 0, take_line, segment.size);
  }

  bool take(AuditRecord record, const std::string& where) {
    ++report_.events;
    report_.last_seq = record.seq;
    report_.last_hash = record.hash;
    if (record.seq == anchor_.settled->end.head.count && record.hash != anchor_.settled->end.head.hash)
      return problem(fmt::format("event {} is not the one the anchor names", record.seq), where), false;
    if (expected_ && record.seq == expected_->seq && record.hash == expected_->hash) expected_.reset();
    // What an interrupted writer said about the log is not done yet.
    if (record.seq <= anchor_.settled->end.head.count) audit::note_own_event(record, noted_);
    if (record.event_type == name_of(AuditEventType::log_repaired)) report_.repairs.push_back(std::move(record));
    return true;
  }

  void check_end(const Slot& slot) {
    const auto& end = anchor_.announced ? *anchor_.announced->announced : slot.end;
    if (head_.count < slot.end.head.count)
      problem(fmt::format("the log ends with event {}, and {} were written", head_.count, slot.end.head.count), "anchor");
    else if (head_.count > end.head.count || (segment_ == end.segment && size_ > end.size))
      problem(fmt::format("the log holds more than the {} events that were written", end.head.count), "anchor");
    else if (!anchor_.announced && (head_.hash != end.head.hash || (end.size != 0 && (segment_ != end.segment || size_ != end.size))))
      problem("the log does not end as the anchor says", "anchor");
  }

  // Retention says in the log itself what it removed: an anchor alone cannot excuse a missing beginning.
  void check_beginning(const Slot& slot) {
    if (noted_.first != slot.first || (slot.first != 1 && noted_.before_first != slot.before_first))
      problem(fmt::format("the log begins with event {}, and retention removed those before {}", slot.first, noted_.first), "anchor");
  }

  void check_seal(const Slot& slot) {
    const auto& key = !key_.empty() ? key_ : noted_.key != "-" ? noted_.key : slot.key;
    if (key == "-") return;
    if (slot.seal == "-") problem("the anchor is not sealed, but the log says that it is", "anchor");
    else if (slot.key != key || !audit::seal_is_right(audit::sealed_text(slot), slot.seal, key))
      problem("the seal of the anchor is wrong", "anchor");
    else report_.sealed_by = key;
  }

  const AbsPath& directory_;
  const audit::Anchor& anchor_;
  const std::string& key_;
  std::optional<Expected> expected_;
  Head head_ = {};
  Slot noted_ = {};  // what the events say about the log
  std::uint64_t segment_ = 0;
  std::uint64_t size_ = 0;
  AuditReport report_ = {};
};

std::unexpected<Error> no_log(const AbsPath& directory) {
  return fail(Error{.code = ErrorCode::io,
                    .stage = Stage::audit,
                    .os_error = ENOENT,
                    .message = fmt::format("there is no audit log in {}", base::quoted(directory.text())),
                    .hint = "the first 'harn run' begins one"});
}

}  // namespace

Result<AuditReport> verify_audit_log(const AbsPath& directory, const AuditCheck& check) {
  HARN_TRY(expected, parse_expected(check.expected));
  const auto name = audit::anchor_file(directory);
  const sys::UniqueFd fd(::open(name.text().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd && errno == ENOENT) {
    HARN_TRY(segments, audit::list_segments(directory));
    if (segments.empty()) return no_log(directory);
    return AuditReport{.problem = "the anchor is gone", .where = "anchor"};
  }
  if (!fd) return fail(sys::os_failure("open", name.text(), errno, Stage::audit));
  struct Seen {
    std::string anchor = {};
    std::vector<Segment> segments = {};
    bool operator==(const Seen&) const = default;
  };
  const auto look = [&]() -> Result<Seen> {
    HARN_TRY(text, audit::read_at(fd.get(), 0, audit::anchor_bytes, name));
    HARN_TRY(segments, audit::list_segments(directory));
    return Seen{std::move(text), std::move(segments)};
  };
  const auto verify = [&](const Seen& seen) {
    const auto anchor = audit::parse_anchor(seen.anchor);
    return Verification(directory, anchor, check.public_key, expected).run(seen.segments);
  };
  std::optional<audit::Lock> held;
  const auto lock = [&]() -> Status {
    HARN_TRY(taken, audit::Lock::take(fd.get(), audit::Lock::Kind::shared, name));
    held.emplace(std::move(taken));
    return {};
  };
  // Nobody shall wait until a long log is read. What then looks wrong may be the work of those who did
  // not have to; where they did something, they must.
  HARN_OK(lock());
  HARN_TRY(before, look());
  held.reset();
  auto report = verify(before);
  if (report && report->intact()) return report;
  HARN_OK(lock());
  HARN_TRY(now, look());
  return now == before ? std::move(report) : verify(now);
}

}  // namespace harn

// SPDX-License-Identifier: Apache-2.0
#include "audit/writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "audit/event.h"
#include "audit/repair.h"
#include "audit/retention.h"
#include "audit/seal.h"
#include "base/json.h"
#include "base/text.h"
#include "sys/descriptors.h"
#include "sys/files.h"

namespace harn {

using audit::End;
using audit::Slot;

struct AuditLog::Writer::Pending {
  Slot base = {};                    // the log as it is
  Slot next = {};                    // as it will be
  std::vector<AuditEvent> own = {};  // what the log says about itself comes first
  std::vector<audit::Segment> surplus = {};
  bool repaired = false;
  std::string text = {};
  audit::Now now = {};
};

namespace {

constexpr mode_t only_owner = 0600;
constexpr std::size_t longest_key = 256;

Error failure(std::string_view call, const AbsPath& name) { return sys::os_failure(call, name.text(), errno, Stage::audit); }

std::unexpected<Error> wrong(std::string message) {
  return fail(Error{.code = ErrorCode::protocol, .stage = Stage::audit, .message = std::move(message)});
}

bool is_session_id(std::string_view text) {
  return !text.empty() && text.size() <= 128 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  });
}

// What somebody else wrote may be any JSON, or none.
Result<AuditEvent> in_canonical_form(const AuditEvent& event) {
  if (event.data.size() > audit::longest_data)
    return wrong(fmt::format("the data of an event has more than {} bytes", audit::longest_data));
  if (event.canonical) return event;
  HARN_TRY(value, base::parse_json(event.data, "data"));
  if (!value.is(base::ValueKind::object)) return wrong("the data of an event is no JSON object");
  return audit::make_event(event.type, value);
}

}  // namespace

Status AuditLog::Writer::open_anchor() {
  if (const int process = ::getpid(); std::exchange(opened_by_, process) != process) {
    anchor_ = sys::UniqueFd();
    segment_ = sys::UniqueFd();
    segment_first_ = 0;
  }
  if (anchor_) return {};
  const auto name = audit::anchor_file(options_.directory);
  constexpr int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
  anchor_ = sys::UniqueFd(::open(name.text().c_str(), flags));
  if (!anchor_ && errno == ENOENT) {
    HARN_OK(sys::make_directories(options_.directory));
    anchor_ = sys::UniqueFd(::open(name.text().c_str(), flags | O_CREAT, only_owner));
  }
  if (!anchor_) return fail(failure("open", name));
  return {};
}

Status AuditLog::Writer::open_segment(const End& end) {
  if (segment_ && segment_first_ == end.segment) return {};
  const auto name = audit::segment_file(options_.directory, end.segment);
  const int create = end.size == 0 ? O_CREAT : 0;
  segment_ = sys::UniqueFd(::open(name.text().c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | create, only_owner));
  if (!segment_) {
    if (errno == ENOENT) return audit::mismatch(options_.directory, fmt::format("{} is gone", base::quoted(name.name())));
    return fail(failure("open", name));
  }
  segment_first_ = end.segment;
  if (create == 0 || options_.durability != AuditMode::power) return {};
  HARN_TRY(directory, sys::open_directory(options_.directory));
  if (::fsync(directory.get()) != 0) return fail(failure("fsync", options_.directory));
  return {};
}

Status AuditLog::Writer::begin_log(Pending& pending) {
  HARN_TRY(segments, audit::list_segments(options_.directory));
  // Whoever died while making the first anchor left no events.
  if (!segments.empty()) return audit::mismatch(options_.directory, "the anchor is gone or cannot be read");
  pending.base.generation = 1;
  pending.base.segment_began_ms = pending.now.real_ms();
  // All of it at once: later only bytes change that have their place on the disk already.
  const std::string blank(audit::slot_bytes, '\n');
  return audit::write_at(anchor_.get(), 0, audit::print_slot(pending.base) + blank + audit::print_synced(0),
                         audit::anchor_file(options_.directory));
}

Status AuditLog::Writer::find_end(Pending& pending) {
  HARN_TRY(text, audit::read_at(anchor_.get(), 0, audit::anchor_bytes, audit::anchor_file(options_.directory)));
  const auto anchor = audit::parse_anchor(text);
  if (!anchor.settled && !anchor.announced) return begin_log(pending);
  if (anchor.settled && !anchor.announced) {
    HARN_OK(open_segment(anchor.settled->end));
    HARN_TRY(size, audit::size_of(segment_.get(), audit::segment_file(options_.directory, segment_first_)));
    pending.base = *anchor.settled;
    if (size == anchor.settled->end.size) return {};
  }
  const auto* slot = anchor.announced ? &*anchor.announced : anchor.settled ? &*anchor.settled : nullptr;
  const bool restarted = slot != nullptr && audit::restarted_since(*slot, pending.now.real_ms(), pending.now.boot_ms);
  HARN_TRY(repaired, audit::repair(options_.directory, anchor, restarted));
  pending.base = std::move(repaired.base);
  pending.repaired = repaired.event.has_value();
  if (repaired.event) pending.own.push_back(std::move(*repaired.event));
  return {};
}

Status AuditLog::Writer::make_room(Pending& pending) {
  pending.next = pending.base;
  if (!audit::begins_new_file(pending.base, options_.settings, pending.now.real_ms())) return {};
  // The old file is nobody's to wait for any more.
  if (options_.durability == AuditMode::power) {
    HARN_OK(open_segment(pending.base.end));
    if (sys::sync_bytes(segment_.get()) != 0) return fail(failure("fdatasync", audit::segment_file(options_.directory, segment_first_)));
  }
  HARN_TRY(pruning, audit::plan_pruning(options_.directory, options_.settings, pending.now.real_ms(), pending.next));
  if (pruning.event) pending.own.push_back(std::move(*pruning.event));
  pending.surplus = std::move(pruning.segments);
  pending.next.end.segment = pending.base.end.head.count + 1;
  pending.next.end.size = 0;
  pending.next.segment_began_ms = pending.now.real_ms();
  return {};
}

Status AuditLog::Writer::settle(Slot& slot) {
  if (slot.key != "-") {
    HARN_TRY(secret, sys::read_file(audit::key_file(options_.directory), longest_key));
    HARN_TRY(seal, audit::make_seal(audit::sealed_text(slot), base::trim(secret), slot.key));
    slot.seal = std::move(seal);
  }
  return audit::write_at(anchor_.get(), 0, audit::print_slot(slot), audit::anchor_file(options_.directory));
}

// Nothing of a failed append stays: what cannot be taken back is found by the next writer.
void AuditLog::Writer::take_back(const Pending& pending) {
  const auto& base = pending.base;
  const auto size = segment_first_ == base.end.segment ? base.end.size : 0;
  // A repair that could not be recorded is left to be made again.
  if (::ftruncate(segment_.get(), static_cast<off_t>(size)) != 0 || pending.repaired) return;
  auto slot = base;
  slot.generation += 2;
  if (const auto settled = settle(slot); !settled) return;
  if (segment_first_ != base.end.segment) ::unlink(audit::segment_file(options_.directory, segment_first_).text().c_str());
}

Status AuditLog::Writer::write_out(Pending& pending) {
  auto& next = pending.next;
  HARN_OK(open_segment(next.end));
  const auto name = audit::segment_file(options_.directory, segment_first_);
  auto announcement = pending.base;
  announcement.generation = next.generation = pending.base.generation + 1;
  announcement.real_ms = next.real_ms = pending.now.real_ms();
  announcement.boot_ms = next.boot_ms = pending.now.boot_ms;
  announcement.seal = next.seal = "-";
  next.end.size += pending.text.size();
  announcement.announced = next.end;
  HARN_OK(audit::write_at(anchor_.get(), audit::slot_bytes, audit::print_slot(announcement), audit::anchor_file(options_.directory)));
  auto written = audit::append_text(segment_.get(), pending.text, name);
  if (written) written = settle(next);
  if (!written) take_back(pending);
  return written;
}

// One of those who wait waits for the disk; the others find that their events reached it too. The anchor
// may come later: where the log is longer after a power failure, its own hashes vouch for it.
Status AuditLog::Writer::sync(std::uint64_t count) {
  const auto name = audit::segment_file(options_.directory, segment_first_);
  const auto anchor_name = audit::anchor_file(options_.directory);
  const auto look = [&] {
    const auto text = audit::read_at(anchor_.get(), 0, audit::anchor_bytes, anchor_name);
    return text ? audit::parse_anchor(*text) : audit::Anchor();
  };
  HARN_TRY(lock, audit::Lock::take_unless(segment_.get(), name, [&] { return look().synced >= count; }));
  if (!lock) return {};
  const auto anchor = look();
  if (anchor.synced >= count) return {};
  if (anchor.settled && anchor.settled->end.segment == segment_first_) count = std::max(count, anchor.settled->end.head.count);
  if (sys::sync_bytes(segment_.get()) != 0) return fail(failure("fdatasync", name));
  return audit::write_at(anchor_.get(), 2 * audit::slot_bytes, audit::print_synced(count), anchor_name);
}

Status AuditLog::Writer::append_locked(std::span<const AuditEvent> events, const std::string* new_key) {
  if (!is_session_id(options_.session_id)) return wrong(fmt::format("{} is no session id", base::quoted(options_.session_id)));
  std::vector<AuditEvent> ready;
  for (const auto& event : events) {
    HARN_TRY(canonical, in_canonical_form(event));
    ready.push_back(std::move(canonical));
  }
  Pending pending;
  HARN_OK(open_anchor());
  std::uint64_t count = 0;
  {
    HARN_TRY(lock, audit::Lock::take(anchor_.get(), audit::Lock::Kind::exclusive, audit::anchor_file(options_.directory)));
    pending.now = audit::now();
    HARN_OK(find_end(pending));
    HARN_OK(make_room(pending));
    if (new_key != nullptr) pending.next.key = *new_key;
    const auto timestamp = audit::timestamp_text(pending.now.real_us);
    const auto add = [&](const AuditEvent& event) {
      (pending.text += audit::make_line(pending.next.end.head, event, options_.session_id, timestamp)) += '\n';
    };
    std::ranges::for_each(pending.own, add);
    std::ranges::for_each(ready, add);
    HARN_OK(write_out(pending));
    count = pending.next.end.head.count;
    for (const auto& segment : pending.surplus) ::unlink(audit::segment_file(options_.directory, segment.first).text().c_str());
  }
  return options_.durability == AuditMode::power ? sync(count) : Status();
}

Status AuditLog::Writer::append(std::span<const AuditEvent> events) {
  const std::scoped_lock guard(mutex_);
  return append_locked(events, nullptr);
}

Result<std::string> AuditLog::Writer::start_sealing(bool replace) {
  const std::scoped_lock guard(mutex_);
  const auto file = audit::key_file(options_.directory);
  if (!replace && !sys::is_known_absent(file))
    return fail(Error{.code = ErrorCode::refused,
                      .stage = Stage::audit,
                      .message = fmt::format("the audit log is sealed already, with {}", base::quoted(file.text())),
                      .hint = "--replace makes a new key; seals of the old one are not made any more"});
  HARN_TRY(keys, audit::make_keys());
  HARN_OK(sys::replace_file(file, keys.secret_key + "\n"));
  base::Value data;
  data.set("public_key", keys.public_key);
  const AuditEvent sealed[] = {audit::make_event(AuditEventType::log_sealed, data)};
  HARN_OK(append_locked(sealed, &keys.public_key));
  return keys.public_key;
}

AuditLog::AuditLog(std::unique_ptr<Writer> writer) : writer_(std::move(writer)) {}
AuditLog::~AuditLog() = default;
std::unique_ptr<AuditLog> AuditLog::open(AuditLogOptions options) {
  return std::unique_ptr<AuditLog>(new AuditLog(std::make_unique<Writer>(std::move(options))));
}
Status AuditLog::append(std::span<const AuditEvent> events) { return writer_->append(events); }
Result<std::string> AuditLog::start_sealing(bool replace) { return writer_->start_sealing(replace); }

}  // namespace harn

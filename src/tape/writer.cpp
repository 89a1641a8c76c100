// SPDX-License-Identifier: Apache-2.0
// Appending one run: under the lock of the file, announce, write, settle. Whatever moment a writer dies at, what was whole before
// stays whole, and the next reader or writer sees that somebody was in the middle.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <tuple>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "plan/json_fields.h"
#include "sys/files.h"
#include "sys/unplanted.h"
#include "tape/file.h"
#include "tape/record_json.h"

namespace harn {

using tape::Slot;

struct TapeWriter::Parts {
  AbsPath path = {};
  std::string salt = {};
  sys::UniqueFd fd = {};
  std::mutex mutex = {};
};

namespace {

constexpr mode_t only_owner = 0600;

Error failure(std::string_view call, const AbsPath& name) { return sys::os_failure(call, name.text(), errno, Stage::audit); }

struct Text {
  audit::Head head = {};
  std::string_view session = {};
  std::string timestamp = {};
  std::string lines = {};

  void add(std::string_view type, const base::Value& data) {
    (lines += audit::make_line(head, type, base::canonical_json(data), session, timestamp)) += '\n';
  }
};

void add_output(Text& text, std::string_view stream, std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += tape::piece_bytes) {
    base::Value data;
    data.set("stream", stream);
    data.set("bytes", plan::write_text(bytes.substr(at, tape::piece_bytes)));
    text.add(tape::output_line, data);
  }
}

// The record without what stands in lines of its own.
base::Value front_of(RunRecord record) {
  record.out.bytes.clear();
  record.err.bytes.clear();
  return tape::record_value(record);
}

Status write_head(int fd, const AbsPath& name) {
  const auto salt = tape::make_salt();
  const auto empty = tape::print_slot({}, salt);
  return audit::write_at(fd, 0, tape::print_format(salt) + empty + empty, name);
}

// Before anything is written: under another name a command could reach what is closed under this one, or have this written to a file
// of its choice.
Status check_one_name(int fd, const AbsPath& name, struct stat& seen) {
  if (::fstat(fd, &seen) != 0) return fail(failure("fstat", name));
  if (seen.st_nlink <= 1) return {};
  return fail(Error{.code = ErrorCode::refused,
                    .stage = Stage::prepare,
                    .message = fmt::format("the tape {} has {} names", base::quoted(name.text()), seen.st_nlink),
                    .hint = "remove the other hard links, or record on a new tape"});
}

Result<std::string> check_use(int fd, const AbsPath& name) {
  HARN_TRY(lock, audit::Lock::take(fd, audit::Lock::Kind::exclusive, name));
  HARN_TRY(size, audit::size_of(fd, name));
  if (size == 0) HARN_OK(write_head(fd, name));
  HARN_TRY(end, tape::find_end(fd, name));
  return end.salt;
}

}  // namespace

TapeWriter::TapeWriter(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
TapeWriter::TapeWriter(TapeWriter&&) noexcept = default;
TapeWriter& TapeWriter::operator=(TapeWriter&&) noexcept = default;
TapeWriter::~TapeWriter() = default;
const AbsPath& TapeWriter::path() const { return parts_->path; }
const std::string& TapeWriter::salt() const { return parts_->salt; }

Result<TapeWriter> TapeWriter::open(const AbsPath& path) {
  auto parts = std::make_unique<Parts>();
  HARN_TRY(place, sys::hold_unplanted_parent(path, "tape"));
  parts->path = place.path.join(path.name());
  const std::string name(path.name());
  parts->fd = sys::UniqueFd(
      ::openat(place.directory.get(), name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, only_owner));
  if (!parts->fd && errno == ELOOP)
    return fail(Error{.code = ErrorCode::refused,
                      .stage = Stage::prepare,
                      .os_error = ELOOP,
                      .message = fmt::format("the tape {} is a symbolic link", base::quoted(path.text())),
                      .hint = "name the file itself"});
  if (!parts->fd) return fail(failure("open", path));
  struct stat seen = {};
  HARN_OK(check_one_name(parts->fd.get(), path, seen));
  HARN_TRY(salt, check_use(parts->fd.get(), path));
  parts->salt = std::move(salt);
  // Copied or checked out, it may have become everybody's.
  if ((seen.st_mode & 077) != 0 && ::fchmod(parts->fd.get(), only_owner) != 0) return fail(failure("fchmod", path));
  return TapeWriter(std::move(parts));
}

Status TapeWriter::append(const RunRecord& record) {
  const std::scoped_lock guard(parts_->mutex);
  const int fd = parts_->fd.get();
  const auto& name = parts_->path;
  HARN_TRY(lock, audit::Lock::take(fd, audit::Lock::Kind::exclusive, name));
  HARN_TRY(end, tape::find_end(fd, name));
  if (end.torn && ::ftruncate(fd, static_cast<off_t>(end.slot.size)) != 0) return fail(failure("ftruncate", name));
  Text text{.head = end.slot.head, .session = record.run_id, .timestamp = audit::timestamp_text(audit::now().real_us)};
  if (end.torn) {
    base::Value lost;
    lost.set("lost_bytes", end.torn_bytes);
    text.add(tape::repair_line, lost);
  }
  text.add(tape::exec_line, front_of(record));
  if (text.lines.size() > tape::longest_line)
    return fail(Error{.code = ErrorCode::not_supported,
                      .stage = Stage::audit,
                      .message = "the command line, its environment and its policy are longer than a tape can hold"});
  add_output(text, "stdout", record.out.bytes);
  add_output(text, "stderr", record.err.bytes);
  const Slot next{.generation = end.slot.generation + (end.torn ? 2u : 1u), .head = text.head, .size = end.slot.size + text.lines.size()};
  HARN_OK(audit::write_at(fd, tape::announced_at, tape::print_slot(next, end.salt), name));
  auto written = audit::write_at(fd, end.slot.size, text.lines, name);
  if (written) written = audit::write_at(fd, tape::settled_at, tape::print_slot(next, end.salt), name);
  if (written) return {};
  // Nothing of a failed append stays; what cannot be taken back is found by the next writer.
  auto back = end.slot;
  back.generation = next.generation;
  if (::ftruncate(fd, static_cast<off_t>(end.slot.size)) == 0)
    std::ignore = audit::write_at(fd, tape::settled_at, tape::print_slot(back, end.salt), name);
  return written;
}

}  // namespace harn

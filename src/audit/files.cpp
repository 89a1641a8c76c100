// SPDX-License-Identifier: Apache-2.0
#include "audit/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ctime>

#include <fmt/format.h>

#include "audit/line.h"
#include "base/text.h"
#include "sys/descriptors.h"
#include "sys/files.h"

namespace harn::audit {
namespace {

constexpr std::string_view suffix = ".jsonl";
constexpr std::size_t most_names = 1u << 16;
constexpr std::int64_t longest_wait_ms = 10'000;
constexpr long first_nap_ns = 20'000;
constexpr long longest_nap_ns = 1'000'000;

std::int64_t nanos(clockid_t clock) {
  timespec time = {};
  ::clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

Error failure(std::string_view call, const AbsPath& name) { return sys::os_failure(call, name.text(), errno, Stage::audit); }

}  // namespace

AbsPath anchor_file(const AbsPath& directory) { return directory.join("anchor"); }
AbsPath key_file(const AbsPath& directory) { return directory.join("seal.key"); }
std::string segment_name(std::uint64_t first_seq) { return fmt::format("{:012}{}", first_seq, suffix); }
AbsPath segment_file(const AbsPath& directory, std::uint64_t first_seq) { return directory.join(segment_name(first_seq)); }

Result<std::vector<Segment>> list_segments(const AbsPath& directory) {
  auto names = sys::list_directory(directory, most_names);
  if (!names && names.error().os_error == ENOENT) return std::vector<Segment>();
  if (!names) return fail(std::move(names).error());
  std::vector<Segment> segments;
  for (const auto& name : *names) {
    Segment segment;
    if (!name.ends_with(suffix)) continue;
    std::from_chars(name.data(), name.data() + name.size() - suffix.size(), segment.first);
    struct stat status = {};
    if (segment_name(segment.first) != name || ::lstat(directory.join(name).text().c_str(), &status) != 0) continue;
    segment.size = static_cast<std::uint64_t>(status.st_size);
    segment.written_ms = sys::modified_ms(status);
    segments.push_back(segment);
  }
  std::ranges::sort(segments, {}, &Segment::first);
  return segments;
}

namespace {

// True = locked, false = not needed any more.
Result<bool> lock_file(int fd, int operation, const AbsPath& name, const std::function<bool()>& is_done) {
  std::int64_t waited_since = 0;
  for (long nap = first_nap_ns;; nap = std::min(nap * 2, longest_nap_ns)) {
    if (::flock(fd, operation | LOCK_NB) == 0) return true;
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return fail(failure("flock", name));
    if (is_done && is_done()) return false;
    const auto time = nanos(CLOCK_MONOTONIC) / 1'000'000;
    if (waited_since == 0) waited_since = time;
    if (time - waited_since > longest_wait_ms)
      return fail(
          Error{.code = ErrorCode::io,
                .stage = Stage::audit,
                .message = fmt::format("another process holds {} for longer than {} s", base::quoted(name.text()), longest_wait_ms / 1000),
                .hint = "look for a harn that is stopped"});
    const timespec pause = {.tv_sec = 0, .tv_nsec = nap};
    ::nanosleep(&pause, nullptr);
  }
}

}  // namespace

Result<Lock> Lock::take(int fd, Kind kind, const AbsPath& name) {
  HARN_OK(lock_file(fd, kind == Kind::shared ? LOCK_SH : LOCK_EX, name, {}));
  return Lock(fd);
}

Result<std::optional<Lock>> Lock::take_unless(int fd, const AbsPath& name, const std::function<bool()>& is_done) {
  HARN_TRY(locked, lock_file(fd, LOCK_EX, name, is_done));
  if (!locked) return std::optional<Lock>();
  return std::optional<Lock>(Lock(fd));
}

Lock::~Lock() {
  if (fd_ >= 0) ::flock(fd_, LOCK_UN);
}

Result<std::string> read_at(int fd, std::uint64_t offset, std::size_t bytes, const AbsPath& name) {
  std::string text(bytes, '\0');
  std::size_t filled = 0;
  while (filled < bytes) {
    const auto got = ::pread(fd, text.data() + filled, bytes - filled, static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(failure("read", name));
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  text.resize(filled);
  return text;
}

Status write_at(int fd, std::uint64_t offset, std::string_view text, const AbsPath& name) {
  while (!text.empty()) {
    const auto written = ::pwrite(fd, text.data(), text.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(failure("write", name));
    text.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return {};
}

Status append_text(int fd, std::string_view text, const AbsPath& name) {
  while (!text.empty()) {
    const auto written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(failure("write", name));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<std::uint64_t> size_of(int fd, const AbsPath& name) {
  struct stat status = {};
  if (::fstat(fd, &status) != 0) return fail(failure("fstat", name));
  if (!S_ISREG(status.st_mode))
    return fail(
        Error{.code = ErrorCode::io, .stage = Stage::audit, .message = fmt::format("{} is not a regular file", base::quoted(name.text()))});
  return static_cast<std::uint64_t>(status.st_size);
}

Status for_each_line(const AbsPath& file, std::uint64_t offset, const TakeLine& take, std::uint64_t limit) {
  const sys::UniqueFd fd(::open(file.text().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) return fail(failure("open", file));
  HARN_OK(size_of(fd.get(), file));
  return for_each_line(fd.get(), file, {.from = offset, .limit = limit, .longest = longest_line}, take);
}

Status for_each_line(int fd, const AbsPath& name, const Stretch& stretch, const TakeLine& take) {
  constexpr std::size_t piece = 1u << 16;
  const auto limit = stretch.limit;
  auto offset = stretch.from;
  std::string kept;
  std::size_t taken = 0;   // of `kept`
  std::size_t looked = 0;  // how far there is no newline
  for (auto at = offset;;) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(piece, limit - std::min(at, limit)));
    HARN_TRY(more, read_at(fd, at, wanted, name));
    at += more.size();
    const bool last = more.size() < piece;
    kept.erase(0, taken);
    looked = kept.size();
    taken = 0;
    kept += more;
    for (auto newline = kept.find('\n', looked); newline != std::string::npos; newline = kept.find('\n', taken)) {
      const auto line = std::string_view(kept).substr(taken, newline - taken);
      taken = newline + 1;
      offset += line.size() + 1;
      if (!take(line, offset, true)) return {};
    }
    const auto rest = std::string_view(kept).substr(taken);
    if ((last && !rest.empty()) || rest.size() > stretch.longest) {
      take(rest, offset + rest.size(), false);
      return {};
    }
    if (last) return {};
  }
}

Now now() { return {.real_us = nanos(CLOCK_REALTIME) / 1000, .boot_ms = nanos(sys::clock_since_boot) / 1'000'000}; }

}  // namespace harn::audit

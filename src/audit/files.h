// SPDX-License-Identifier: Apache-2.0
// The files of a log: where they stand, how they are opened, locked, read and written.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harn/path.h"
#include "harn/result.h"
#include "sys/unique_fd.h"

namespace harn::audit {

AbsPath anchor_file(const AbsPath& directory);
AbsPath key_file(const AbsPath& directory);
std::string segment_name(std::uint64_t first_seq);
AbsPath segment_file(const AbsPath& directory, std::uint64_t first_seq);

struct Segment {
  std::uint64_t first = 0;
  std::uint64_t size = 0;
  std::int64_t written_ms = 0;

  bool operator==(const Segment&) const = default;
};

// Oldest first. Empty when there is no such directory.
Result<std::vector<Segment>> list_segments(const AbsPath& directory);

// Held while somebody writes (or, shared, reads) the log; several processes take turns.
class Lock {
 public:
  enum class Kind : std::uint8_t {
    shared,
    exclusive
  };
  // Not for ever: a writer that was stopped must not stop everybody.
  static Result<Lock> take(int fd, Kind kind, const AbsPath& name);
  // Nothing when it is not needed any more, which is asked while somebody else has it.
  static Result<std::optional<Lock>> take_unless(int fd, const AbsPath& name, const std::function<bool()>& is_done);
  Lock(Lock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  Lock& operator=(Lock&&) = delete;
  ~Lock();

 private:
  explicit Lock(int fd) : fd_(fd) {}
  int fd_;
};

Result<std::string> read_at(int fd, std::uint64_t offset, std::size_t bytes, const AbsPath& name);  // shorter at the end
Status write_at(int fd, std::uint64_t offset, std::string_view text, const AbsPath& name);
Status append_text(int fd, std::string_view text, const AbsPath& name);
Result<std::uint64_t> size_of(int fd, const AbsPath& name);  // an error for what is no regular file

// Each line from `offset` on with the offset behind it, until `take` says false. `whole` is false for what
// stands after the last newline. What is past `limit` is not looked at.
using TakeLine = std::function<bool(std::string_view line, std::uint64_t end, bool whole)>;
Status for_each_line(const AbsPath& file, std::uint64_t offset, const TakeLine& take,
                     std::uint64_t limit = std::numeric_limits<std::uint64_t>::max());

// The same of an open file; a line may have `longest` bytes.
struct Stretch {
  std::uint64_t from = 0;
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
  std::size_t longest = 0;
};
Status for_each_line(int fd, const AbsPath& name, const Stretch& stretch, const TakeLine& take);

struct Now {
  std::int64_t real_us = 0;
  std::int64_t boot_ms = 0;
  std::int64_t real_ms() const { return real_us / 1000; }
};
Now now();

}  // namespace harn::audit

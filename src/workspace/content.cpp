// SPDX-License-Identifier: Apache-2.0
#include "workspace/content.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "sys/files.h"

namespace harn::workspace {
namespace {

constexpr std::size_t block = 1u << 16;
constexpr mode_t permissions = 07777;

Result<sys::UniqueFd> open_file(int directory, const std::string& name) {
  sys::UniqueFd fd(::openat(directory, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!fd) return fail(sys::os_failure("open", name, errno));
  return fd;
}

Result<std::size_t> read_block(int fd, char* into, const std::string& name) {
  std::size_t have = 0;
  while (have < block) {
    const auto got = ::read(fd, into + have, block - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(sys::os_failure("read", name, errno));
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  return have;
}

Status copy_bytes(int from, int to, const std::string& name) {
  if (::ioctl(to, FICLONE, from) == 0) return {};
  for (;;) {
    const auto moved = ::copy_file_range(from, nullptr, to, nullptr, std::size_t{1} << 30, 0);
    if (moved == 0) return {};
    if (moved > 0 || errno == EINTR) continue;
    if (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
      return fail(sys::os_failure("copy_file_range", name, errno));
    break;
  }
  std::array<char, block> buffer;
  for (;;) {
    HARN_TRY(got, read_block(from, buffer.data(), name));
    if (got == 0) return {};
    if (const int error = sys::write_all(to, {buffer.data(), got}); error != 0) return fail(sys::os_failure("write", name, error));
  }
}

Status copy_file(int from, const std::string& name, const State& state, int to, const std::string& new_name) {
  HARN_TRY(source, open_file(from, name));
  const sys::UniqueFd made(::openat(to, new_name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!made) return fail(sys::os_failure("create", new_name, errno));
  HARN_OK(copy_bytes(source.get(), made.get(), name));
  if (::fchmod(made.get(), state.mode & permissions) != 0) return fail(sys::os_failure("fchmod", new_name, errno));
  const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT},
                             {.tv_sec = state.mtime_ns / 1'000'000'000, .tv_nsec = state.mtime_ns % 1'000'000'000}};
  if (::futimens(made.get(), times) != 0) return fail(sys::os_failure("futimens", new_name, errno));
  return {};
}

}  // namespace

Result<bool> same_content(int left, const std::string& left_name, int right, const std::string& right_name) {
  const auto one = look(left, left_name);
  const auto other = look(right, right_name);
  if (one.is_link()) {
    HARN_TRY(a, sys::link_text(left, left_name));
    HARN_TRY(b, sys::link_text(right, right_name));
    return a == b;
  }
  if (!one.is_file()) return true;
  if (one.size != other.size) return false;
  HARN_TRY(a, open_file(left, left_name));
  HARN_TRY(b, open_file(right, right_name));
  std::array<char, block> first;
  std::array<char, block> second;
  for (;;) {
    HARN_TRY(from_a, read_block(a.get(), first.data(), left_name));
    HARN_TRY(from_b, read_block(b.get(), second.data(), right_name));
    if (from_a != from_b || std::memcmp(first.data(), second.data(), from_a) != 0) return false;
    if (from_a == 0) return true;
  }
}

Status copy_entry(int from, const std::string& name, const State& state, int to, const std::string& new_name) {
  if (state.is_file()) return copy_file(from, name, state, to, new_name);
  if (state.is_link()) {
    HARN_TRY(text, sys::link_text(from, name));
    if (::symlinkat(text.c_str(), to, new_name.c_str()) != 0) return fail(sys::os_failure("symlink", new_name, errno));
    return {};
  }
  if (S_ISFIFO(state.mode)) {
    if (::mkfifoat(to, new_name.c_str(), state.mode & permissions) != 0) return fail(sys::os_failure("mkfifo", new_name, errno));
    return {};
  }
  return fail(Error{.code = ErrorCode::not_supported,
                    .stage = Stage::load,
                    .message = "only files, links, pipes and directories can be put into a project"});
}

}  // namespace harn::workspace

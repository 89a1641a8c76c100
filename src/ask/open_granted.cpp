// SPDX-License-Identifier: Apache-2.0
#include "ask/open_granted.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

namespace harn::ask {
namespace {

constexpr unsigned passed_on = O_ACCMODE | O_APPEND | O_TRUNC | O_CREAT | O_EXCL | O_NONBLOCK | O_SYNC | O_DSYNC;

bool is_regular(int fd) {
  struct stat status = {};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

sys::UniqueFd open_plainly(const AbsPath& path, std::uint64_t flags) {
  open_how how = {};
  how.flags = flags | O_CLOEXEC | O_NOFOLLOW | ((flags & O_PATH) != 0 ? 0 : O_NOCTTY);  // openat2 is strict
  how.mode = (flags & O_CREAT) != 0 ? 0666 : 0;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return sys::UniqueFd(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.text().c_str(), &how, sizeof how)));
}

}  // namespace

std::uint64_t flags_of(const Refused& asked) {
  if (asked.call == "creat") return O_CREAT | O_WRONLY | O_TRUNC;
  return asked.arguments[asked.call == "open" ? 1 : 2];
}

sys::UniqueFd open_granted(const AbsPath& path, const Refused& asked) {
  auto held = open_plainly(path, O_PATH);
  if (held && !is_regular(held.get())) return {};
  if (asked.wanted == Wanted::finding) return held;
  const auto flags = flags_of(asked) & passed_on;
  if (!held && (flags & O_CREAT) == 0) return {};
  auto file = open_plainly(path, flags | O_NONBLOCK);
  if (!file || !is_regular(file.get())) return {};
  if ((flags & O_NONBLOCK) == 0) ::fcntl(file.get(), F_SETFL, static_cast<int>(flags & (O_APPEND | O_SYNC | O_DSYNC)));
  return file;
}

sys::UniqueFd hold_socket(const AbsPath& path) {
  auto held = open_plainly(path, O_PATH);
  struct stat status = {};
  return held && ::fstat(held.get(), &status) == 0 && S_ISSOCK(status.st_mode) ? std::move(held) : sys::UniqueFd();
}

sys::UniqueFd connect_granted(int held) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  fmt::format_to_n(address.sun_path, sizeof address.sun_path - 1, "/proc/self/fd/{}", held);
  sys::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  ::fcntl(fd.get(), F_SETFL, 0);
  return fd;
}

}  // namespace harn::ask

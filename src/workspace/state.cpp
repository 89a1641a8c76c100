// SPDX-License-Identifier: Apache-2.0
#include "workspace/state.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/files.h"

namespace harn::workspace {
namespace {

std::int64_t nanoseconds(const timespec& time) { return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

}  // namespace

bool State::is_directory() const { return S_ISDIR(mode); }
bool State::is_file() const { return S_ISREG(mode); }
bool State::is_link() const { return S_ISLNK(mode); }

bool State::same_file(const State& other) const {
  return mode == other.mode && size == other.size && inode == other.inode && mtime_ns == other.mtime_ns;
}

State look(int directory, const std::string& name) {
  struct stat status = {};
  if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW | (name.empty() ? AT_EMPTY_PATH : 0)) != 0) return {};
  State out{
      .mode = status.st_mode, .inode = status.st_ino, .mtime_ns = nanoseconds(status.st_mtim), .ctime_ns = nanoseconds(status.st_ctim)};
  // A directory changes with every name in it; those are looked at one by one.
  if (out.is_directory()) out.mtime_ns = out.ctime_ns = 0;
  else out.size = static_cast<std::uint64_t>(status.st_size);
  return out;
}

Split split_path(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos) return {.parent = {}, .name = std::string(path)};
  return {.parent = std::string(path.substr(0, slash)), .name = std::string(path.substr(slash + 1))};
}

Result<sys::UniqueFd> open_beneath(int root, const std::string& path) {
  const open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC, .mode = 0, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
  sys::UniqueFd fd(static_cast<int>(::syscall(SYS_openat2, root, path.empty() ? "." : path.c_str(), &how, sizeof how)));
  if (!fd) return fail(sys::os_failure("open", path.empty() ? "." : path, errno));
  return fd;
}

Result<sys::UniqueFd> open_tree(const AbsPath& root) {
  sys::UniqueFd fd(::open(root.text().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return fail(sys::os_failure("open", root.text(), errno));
  return fd;
}

}  // namespace harn::workspace

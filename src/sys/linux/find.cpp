// SPDX-License-Identifier: Apache-2.0
// Where a path really is, asked with as few calls as Linux allows: plans look at hundreds.
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "sys/files.h"

namespace harn::sys {
namespace {

// The kernel knows where a descriptor is; asking it is one call where realpath() needs one for every
// component. It has no answer without /proc, and a wrong one for what was deleted meanwhile.
std::optional<AbsPath> place_of(int fd) {
  char link[32] = "/proc/self/fd/";
  std::to_chars(link + std::strlen(link), link + sizeof link - 1, fd);
  char text[PATH_MAX];
  const auto length = ::readlink(link, text, sizeof text);
  if (length <= 0 || text[0] != '/') return std::nullopt;
  const std::string_view place(text, static_cast<std::size_t>(length));
  if (place.ends_with(" (deleted)")) return std::nullopt;
  auto path = AbsPath::parse(place);
  if (!path) return std::nullopt;
  return std::move(*path);
}

// Opened without a link on the way, a path is its own real place and nobody needs to be asked. Most
// paths are like that.
struct Opened {
  UniqueFd fd = {};
  bool straight = false;
};

Opened open_place(const AbsPath& path) {
  open_how how = {.flags = O_PATH | O_CLOEXEC, .mode = 0, .resolve = RESOLVE_NO_SYMLINKS};
  const auto fd = ::syscall(SYS_openat2, AT_FDCWD, path.text().c_str(), &how, sizeof how);
  if (fd >= 0) return {.fd = UniqueFd(static_cast<int>(fd)), .straight = true};
  if (errno == ENOENT || errno == ENOTDIR) return {};
  return {.fd = UniqueFd(::open(path.text().c_str(), O_PATH | O_CLOEXEC))};
}

}  // namespace

Found find(const AbsPath& path) {
  const auto opened = open_place(path);
  struct stat status = {};
  if (!opened.fd || ::fstat(opened.fd.get(), &status) != 0) return {};
  if (opened.straight) return {.type = type_from(status.st_mode), .real = path, .locked = is_locked(path, status)};
  if (auto place = place_of(opened.fd.get())) return {.type = type_from(status.st_mode), .real = std::move(*place)};
  const auto real = real_path(path);
  return {.type = type_from(status.st_mode), .real = real ? *real : path};
}

Result<AbsPath> real_path(const AbsPath& path) {
  const auto opened = open_place(path);
  if (!opened.fd) return fail(os_failure("realpath", path.text(), errno));
  if (opened.straight) return path;
  if (auto place = place_of(opened.fd.get())) return std::move(*place);
  const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.text().c_str(), nullptr), &std::free);
  if (!resolved) return fail(os_failure("realpath", path.text(), errno));
  return AbsPath::parse(resolved.get());
}

UniqueFd hold_directory_in(int directory, const std::string& name) {
  return UniqueFd(::openat(directory, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

Result<UniqueFd> hold_directory(const AbsPath& path) {
  UniqueFd fd(::open(path.text().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return fail(os_failure("open", path.text(), errno));
  return fd;
}

}  // namespace harn::sys

// SPDX-License-Identifier: Apache-2.0
// Where a path really is, with what POSIX offers.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

#include "sys/files.h"

namespace harn::sys {

Found find(const AbsPath& path) {
  struct stat status = {};
  if (::stat(path.text().c_str(), &status) != 0) return {};
  const auto real = real_path(path);
  if (!real) return {};
  return {.type = type_from(status.st_mode), .real = *real, .locked = *real == path && is_locked(path, status)};
}

Result<AbsPath> real_path(const AbsPath& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.text().c_str(), nullptr), &std::free);
  if (!resolved) return fail(os_failure("realpath", path.text(), errno));
  return AbsPath::parse(resolved.get());
}

// A directory that may be entered but not read cannot be held here.
UniqueFd hold_directory_in(int directory, const std::string& name) {
  return UniqueFd(::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

Result<UniqueFd> hold_directory(const AbsPath& path) { return open_directory(path); }

}  // namespace harn::sys

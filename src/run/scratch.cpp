// SPDX-License-Identifier: Apache-2.0
#include "run/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/files.h"
#include "sys/remove_tree.h"

namespace harn::run {
namespace {

constexpr std::string_view ignore_all = "*\n";

Error failed(std::string_view call, const AbsPath& path, int error) {
  auto out = sys::os_failure(call, path.text(), error);
  out.stage = Stage::prepare;
  out.hint = "remove it, or check that the workspace can be written";
  return out;
}

bool still_there(int parent, const std::string& name, int directory) {
  struct stat held = {};
  struct stat named = {};
  return ::fstat(directory, &held) == 0 && ::fstatat(parent, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

}  // namespace

Result<Scratch> Scratch::make(const AbsPath& path) {
  Scratch scratch;
  scratch.name_ = std::string(path.name());
  scratch.parent_ = sys::UniqueFd(::open(path.parent().text().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!scratch.parent_) return fail(failed("open", path.parent(), errno));
  // Another run may remove it between our making it and our lock.
  for (;;) {
    if (::mkdirat(scratch.parent_.get(), scratch.name_.c_str(), S_IRWXU) != 0 && errno != EEXIST) return fail(failed("mkdir", path, errno));
    sys::UniqueFd directory(::openat(scratch.parent_.get(), scratch.name_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!directory) {
      if (errno == ENOENT) continue;
      return fail(failed("open", path, errno));
    }
    if (::flock(directory.get(), LOCK_SH) != 0) return fail(failed("flock", path, errno));
    if (!still_there(scratch.parent_.get(), scratch.name_, directory.get())) continue;
    scratch.directory_ = std::move(directory);
    break;
  }
  const sys::UniqueFd ignore(
      ::openat(scratch.directory_.get(), ".gitignore", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!ignore || ::write(ignore.get(), ignore_all.data(), ignore_all.size()) < 0) return fail(failed("write .gitignore in", path, errno));
  return scratch;
}

// The command could have put anything under the name since: only what we hold open is emptied, and
// only an empty directory is removed by name.
Scratch::~Scratch() {
  if (!directory_) return;
  if (::flock(directory_.get(), LOCK_EX | LOCK_NB) != 0) return;  // another run still uses it
  sys::empty_directory(directory_.get());
  ::unlinkat(parent_.get(), name_.c_str(), AT_REMOVEDIR);
}

}  // namespace harn::run

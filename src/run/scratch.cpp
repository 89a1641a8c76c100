// SPDX-License-Identifier: Apache-2.0
#include "run/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/text.h"
#include "sys/files.h"
#include "sys/remove_tree.h"

namespace harn::run {
namespace {

constexpr auto ignore_name = ".gitignore";
constexpr std::string_view ignore_all = "*\n";
constexpr std::chrono::seconds patience{5};
constexpr std::chrono::milliseconds pause{5};
constexpr int attempts = 16;  // runs that begin together take turns

Error failed(std::string_view call, const AbsPath& path, int error) {
  auto out = sys::os_failure(call, path.text(), error, Stage::prepare);
  out.hint = "remove it, or check that the workspace can be written";
  return out;
}

bool still_there(int parent, const std::string& name, int directory) {
  struct stat held = {};
  struct stat named = {};
  return ::fstat(directory, &held) == 0 && ::fstatat(parent, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

void remove_name(int directory, const char* name) {
  if (::unlinkat(directory, name, 0) == 0 || errno != EISDIR) return;
  {
    const sys::UniqueFd inner(::openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (inner) sys::empty_directory(inner.get());
  }
  ::unlinkat(directory, name, AT_REMOVEDIR);
}

}  // namespace

Result<Scratch> Scratch::make(const AbsPath& path) {
  Scratch scratch;
  scratch.name_ = std::string(path.name());
  auto parent = sys::hold_directory(path.parent());
  if (!parent) return fail(failed("open", path.parent(), parent.error().os_error));
  scratch.parent_ = std::move(*parent);
  HARN_OK(scratch.hold(path));
  HARN_OK(scratch.write_ignore_file(path));
  return scratch;
}

// Another run may remove it between our making it and our lock, and removing takes a moment. Somebody
// who means harm could keep both up for ever.
Status Scratch::hold(const AbsPath& path) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < until) {
    if (::mkdirat(parent_.get(), name_.c_str(), S_IRWXU) != 0 && errno != EEXIST) return fail(failed("mkdir", path, errno));
    sys::UniqueFd directory(::openat(parent_.get(), name_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!directory && errno != ENOENT) return fail(failed("open", path, errno));
    if (!directory) continue;
    if (::flock(directory.get(), LOCK_SH | LOCK_NB) == 0) {
      if (!still_there(parent_.get(), name_, directory.get())) continue;
      directory_ = std::move(directory);
      return {};
    }
    if (errno != EWOULDBLOCK && errno != EINTR) return fail(failed("flock", path, errno));
    std::this_thread::sleep_for(pause);
  }
  return fail(
      Error{.code = ErrorCode::os,
            .stage = Stage::prepare,
            .message = fmt::format("the directory for temporary files {} stays locked by another process", base::quoted(path.text())),
            .hint = "end that process ('fuser' names it), or remove the directory"});
}

// A command of an earlier or a simultaneous run may have put anything under the name: a link, a pipe
// nobody reads, a directory. Only a file that is new is ours to write.
Status Scratch::write_ignore_file(const AbsPath& path) {
  sys::UniqueFd file;
  for (int attempt = 0; attempt < attempts && !file; ++attempt) {
    remove_name(directory_.get(), ignore_name);
    file = sys::UniqueFd(::openat(directory_.get(), ignore_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!file && errno != EEXIST) break;
  }
  if (!file || ::write(file.get(), ignore_all.data(), ignore_all.size()) < 0) return fail(failed("write .gitignore in", path, errno));
  return {};
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

// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor/attacks/inside.h"
#include "sys/unique_fd.h"

namespace harn::doctor {
namespace {

int answer(long result) { return result < 0 ? errno : 0; }

int open_as(const char* path, int flags) {
  const sys::UniqueFd fd(::open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, S_IRUSR | S_IWUSR));
  return fd ? 0 : errno;
}

}  // namespace

int read_outside(const Targets& at) {
  const sys::UniqueFd fd(::open(at.text("secret"), O_RDONLY | O_CLOEXEC));
  char byte = 0;
  if (!fd || ::read(fd.get(), &byte, 1) < 0) return errno;
  return byte != 0 ? 0 : ENODATA;  // an empty one in its place gives nothing away
}

int list_outside(const Targets& at) { return open_as(at.text("outside"), O_RDONLY | O_DIRECTORY); }

int write_outside(const Targets& at) {
  const sys::UniqueFd fd(::open(at.text("victim"), O_WRONLY | O_APPEND | O_CLOEXEC));
  return fd ? answer(::write(fd.get(), "!", 1)) : errno;
}

int create_outside(const Targets& at) { return open_as(at.text("created"), O_WRONLY | O_CREAT | O_EXCL); }
int delete_outside(const Targets& at) { return answer(::unlink(at.text("victim"))); }
int truncate_outside(const Targets& at) { return answer(::truncate(at.text("victim"), 0)); }
int move_outside(const Targets& at) { return answer(::rename(at.text("own_file"), at.text("created"))); }
int link_inside(const Targets& at) { return answer(::link(at.text("secret"), at.text("own_link"))); }
int chmod_outside(const Targets& at) { return answer(::chmod(at.text("victim"), S_IRWXU | S_IRWXG)); }

int touch_outside(const Targets& at) {
  const timespec long_ago[2] = {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 1, .tv_nsec = 0}};
  return answer(::utimensat(AT_FDCWD, at.text("victim"), long_ago, 0));
}

// Opened, never read: what a credential says is nobody's business, ours included. Something else in
// its place gives nothing away.
int read_credential(const Targets& at) {
  const sys::UniqueFd fd(::open(at.text("credential"), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat status = {};
  if (!fd || ::fstat(fd.get(), &status) != 0) return errno;
  return static_cast<unsigned long>(at.number("credential_inode")) == status.st_ino ? 0 : ENODATA;
}

int write_protected(const Targets& at) { return open_as(at.text("protected"), O_WRONLY); }

int create_protected(const Targets& at) {
  const auto* path = at.text("absent");
  const int error = open_as(path, O_WRONLY | O_CREAT | O_EXCL);
  if (error == 0) ::unlink(path);
  return error;
}

}  // namespace harn::doctor

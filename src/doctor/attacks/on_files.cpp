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
  return fd ? answer(::read(fd.get(), &byte, 1)) : errno;
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

// Opened, never read: what a credential says is nobody's business, ours included.

// A wrapper may show an empty file in its place: what counts is a byte of it.
int read_credential(const Targets& at) {
  const sys::UniqueFd fd(::open(at.text("credential"), O_RDONLY | O_CLOEXEC));
  if (!fd) return errno;
  char byte = 0;
  const auto got = ::read(fd.get(), &byte, 1);
  if (got < 0) return errno == EISDIR ? 0 : errno;
  return got == 0 ? ENODATA : 0;
}

int write_protected(const Targets& at) { return open_as(at.text("protected"), O_WRONLY); }

int create_protected(const Targets& at) {
  const auto* path = at.text("absent");
  const int error = open_as(path, O_WRONLY | O_CREAT | O_EXCL);
  if (error == 0) ::unlink(path);
  return error;
}

}  // namespace harn::doctor

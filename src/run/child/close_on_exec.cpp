// SPDX-License-Identifier: Apache-2.0
#include "run/child/close_on_exec.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

namespace harn::run::child {
namespace {

constexpr unsigned mark_close_on_exec = 1u << 2;  // CLOSE_RANGE_CLOEXEC, Linux 5.11
constexpr Word nothing_read = 0;

// struct linux_dirent64: inode and offset, the length of the whole entry, a kind, the name.
constexpr int length_at = 16;
constexpr int name_at = 19;

// -1 for "." and "..".
int number_in(const char* name) {
  int number = -1;
  for (; *name >= '0' && *name <= '9'; ++name) number = (number < 0 ? 0 : number) * 10 + (*name - '0');
  return number;
}

int length_of(const char* entry) {
  return static_cast<unsigned char>(entry[length_at]) | static_cast<unsigned char>(entry[length_at + 1]) << 8;
}

// Where there is no /proc: every number there can be.
Word close_any_on_exec_from(int first) {
  constexpr unsigned long most = 1ul << 20;  // what a kernel allows unless it was told otherwise
  struct {
    unsigned long soft = 0;
    unsigned long hard = 0;
  } limit = {};
  const Word asked = raw_syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, word_of(&limit));
  if (asked < 0) return asked;
  if (limit.hard > most) return -EMFILE;
  for (Word fd = first; fd < static_cast<Word>(limit.hard); ++fd) raw_syscall(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC);
  return 0;
}

}  // namespace

Word close_each_on_exec_from(int first) noexcept {
  const Word list = raw_syscall(SYS_openat, AT_FDCWD, word_of("/proc/self/fd"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (list == -ENOENT) return close_any_on_exec_from(first);
  if (list < 0) return list;
  alignas(8) char entries[1024];
  Word result = 0;
  while (result >= 0) {
    const Word size = raw_syscall(SYS_getdents64, list, word_of(entries), sizeof entries);
    if (size == nothing_read) break;
    result = size;
    for (Word at = 0; at < size && result >= 0; at += length_of(entries + at)) {
      const int fd = number_in(entries + at + name_at);
      if (fd >= first) result = raw_syscall(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC);
    }
  }
  raw_syscall(SYS_close, list);
  return result < 0 ? result : 0;
}

Word close_on_exec_from(int first) noexcept {
  const Word result = raw_syscall(SYS_close_range, first, ~0u, mark_close_on_exec);
  return result == -EINVAL || result == -ENOSYS ? close_each_on_exec_from(first) : result;
}

}  // namespace harn::run::child

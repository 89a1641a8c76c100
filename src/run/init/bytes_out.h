// SPDX-License-Identifier: Apache-2.0
// How much the reaped processes handed to write(), told by the kernel's accounting. The blocks of getrusage()
// leave out every file system without a disk, the private /tmp among them. No libc.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "run/child/raw_syscall.h"

namespace harn::run::init {

// The number behind "wchar: ", on the second line.
inline unsigned long written_in(const char* text, child::Word size) {
  constexpr char name[] = "wchar: ";
  constexpr child::Word length = sizeof name - 1;
  for (child::Word at = 0; at + length < size; ++at) {
    child::Word same = 0;
    while (same < length && text[at + same] == name[same]) ++same;
    if (same < length) continue;
    unsigned long number = 0;
    for (at += length; at < size && text[at] >= '0' && text[at] <= '9'; ++at)
      number = number * 10 + static_cast<unsigned long>(text[at] - '0');
    return number;
  }
  return 0;
}

// A shell tells of a command that met its file size limit by this number, which a command may also choose.
inline bool may_have_met_file_limit(int wait_status) { return wait_status == (128 + SIGXFSZ) << 8; }

// Zero where nobody can say. Asked when nobody else is left: the caller can be looked into from here on.
inline unsigned long bytes_out() {
  using child::raw_syscall;
  using child::word_of;
  raw_syscall(SYS_prctl, PR_SET_DUMPABLE, 1);
  const auto fd = raw_syscall(SYS_openat, AT_FDCWD, word_of("/proc/self/io"), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[256];
  const auto size = raw_syscall(SYS_read, fd, word_of(text), sizeof text);
  raw_syscall(SYS_close, fd);
  return written_in(text, size);
}

}  // namespace harn::run::init

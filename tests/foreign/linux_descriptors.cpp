// SPDX-License-Identifier: Apache-2.0
// The list of open descriptors where the appliers of other systems run on Linux: the kernel has a call for all of them.
#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "run/unix/open_descriptors.h"

namespace harn::run {

// Read as the kernel writes it, without the C library's buffers: this is a child of a process that may have threads.
bool close_at_exec(int first) noexcept {
  const int list = ::open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (list < 0) return false;
  alignas(dirent64) char buffer[8192];
  bool known = true;
  for (;;) {
    const long got = ::syscall(SYS_getdents64, list, buffer, sizeof buffer);
    if (got < 0) known = false;
    if (got <= 0) break;
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer + at);
      at += entry->d_reclen;
      if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
      const int fd = std::atoi(entry->d_name);
      if (fd >= first && ::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) known = false;
    }
  }
  ::close(list);
  return known;
}

}  // namespace harn::run

// SPDX-License-Identifier: Apache-2.0
#include "run/unix/open_descriptors.h"

#include <fcntl.h>
#include <libproc.h>
#include <sys/mman.h>
#include <sys/proc_info.h>
#include <unistd.h>

#include <cstddef>

namespace harn::run {

bool close_at_exec(int first) noexcept {
  const int needed = ::proc_pidinfo(::getpid(), PROC_PIDLISTFDS, 0, nullptr, 0);
  if (needed <= 0) return false;
  // Memory from the kernel itself: after fork the allocator may be in the middle of something.
  const auto bytes = static_cast<std::size_t>(needed) + 64 * sizeof(proc_fdinfo);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_ANON | MAP_PRIVATE, -1, 0);
  if (memory == MAP_FAILED) return false;
  const int filled = ::proc_pidinfo(::getpid(), PROC_PIDLISTFDS, 0, memory, static_cast<int>(bytes));
  // A list that fills all of it may go on.
  bool known = filled > 0 && static_cast<std::size_t>(filled) + sizeof(proc_fdinfo) <= bytes;
  const auto* entries = static_cast<const proc_fdinfo*>(memory);
  for (std::size_t i = 0; known && i < static_cast<std::size_t>(filled) / sizeof(proc_fdinfo); ++i)
    if (entries[i].proc_fd >= first && ::fcntl(entries[i].proc_fd, F_SETFD, FD_CLOEXEC) != 0) known = false;
  ::munmap(memory, bytes);
  return known;
}

}  // namespace harn::run

// SPDX-License-Identifier: Apache-2.0
#include "run/unix/open_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

namespace harn::run {

// The kernel says how many there are, and looking goes on until all of them were seen.
bool close_at_exec(int first) noexcept {
  constexpr int past_every_table = 1 << 22;
  int left = ::getdtablecount();
  for (int fd = 0; left > 0; ++fd) {
    if (fd == past_every_table) return false;
    if (::fcntl(fd, F_GETFD) < 0) continue;
    --left;
    if (fd >= first && ::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) return false;
  }
  return true;
}

}  // namespace harn::run

// SPDX-License-Identifier: Apache-2.0
#include "sys/descriptors.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "sys/files.h"

namespace harn::sys {

// Programs that start others from several threads would need more than this; the only one here is harn, which has one.
Result<Pipe> open_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return fail(os_failure("pipe", "for standard streams", errno, Stage::prepare));
  Pipe out{.read = UniqueFd(ends[0]), .write = UniqueFd(ends[1])};
  for (const int end : ends)
    if (::fcntl(end, F_SETFD, FD_CLOEXEC) != 0) return fail(os_failure("fcntl", "FD_CLOEXEC", errno, Stage::prepare));
  return out;
}

UniqueFd open_datagram_socket() {
  UniqueFd out(::socket(AF_UNIX, SOCK_DGRAM, 0));
  if (out && ::fcntl(out.get(), F_SETFD, FD_CLOEXEC) != 0) return {};
  return out;
}

bool is_memory_device(const struct stat& status) {
  if (!S_ISCHR(status.st_mode)) return false;
  for (const auto* name : {"/dev/null", "/dev/zero"}) {
    struct stat known = {};
    if (::stat(name, &known) == 0 && S_ISCHR(known.st_mode) && known.st_rdev == status.st_rdev) return true;
  }
  return false;
}

// One byte for each signal, written by the handler.
int next_signal(int signal_fd) {
  unsigned char number = 0;
  return ::read(signal_fd, &number, 1) == 1 ? number : 0;
}

}  // namespace harn::sys

// SPDX-License-Identifier: Apache-2.0
#include "sys/tries.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "sys/unique_fd.h"

namespace harn::sys {

bool can_copy_descriptors() {
  const UniqueFd self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  if (!self) return false;
  const UniqueFd copy(static_cast<int>(::syscall(SYS_pidfd_getfd, self.get(), self.get(), 0)));
  return static_cast<bool>(copy);
}

// Whoever may not connect would not be told the kind either; a stream answers that it is none.
bool takes_datagrams(const AbsPath& socket) {
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  if (socket.text().size() >= sizeof name.sun_path) return false;
  socket.text().copy(name.sun_path, sizeof name.sun_path - 1);
  const UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return fd && ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
}

}  // namespace harn::sys

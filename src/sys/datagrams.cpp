// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>
#include <sys/un.h>

#include "sys/descriptors.h"
#include "sys/tries.h"

namespace harn::sys {

// Whoever may not connect would not be told the kind either; a stream answers that it is none.
bool takes_datagrams(const AbsPath& socket) {
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  if (socket.text().size() >= sizeof name.sun_path) return false;
  socket.text().copy(name.sun_path, sizeof name.sun_path - 1);
  const auto fd = open_datagram_socket();
  return fd && ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
}

}  // namespace harn::sys

// SPDX-License-Identifier: Apache-2.0
#include "egress/sockets.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace harn::egress {

const int no_signal = MSG_NOSIGNAL;

sys::UniqueFd open_socket(int family, int type) { return sys::UniqueFd(::socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)); }

sys::UniqueFd accept_client(int listener, sockaddr_storage* peer) {
  socklen_t length = sizeof *peer;
  auto* address = reinterpret_cast<sockaddr*>(peer);
  return sys::UniqueFd(::accept4(listener, address, peer == nullptr ? nullptr : &length, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

ssize_t move_bytes(int from, int to, std::size_t most) {
  return ::splice(from, nullptr, to, nullptr, most, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
}

bool open_pool_pipe(sys::UniqueFd& reader, sys::UniqueFd& writer, std::size_t bytes) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  reader = sys::UniqueFd(ends[0]);
  writer = sys::UniqueFd(ends[1]);
  if (bytes != 0) ::fcntl(writer.get(), F_SETPIPE_SZ, static_cast<int>(bytes));
  return true;
}

}  // namespace harn::egress

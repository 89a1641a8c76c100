// SPDX-License-Identifier: Apache-2.0
#include "egress/sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

namespace harn::egress {
namespace {

sys::UniqueFd marked(sys::UniqueFd fd) {
  if (fd && (::fcntl(fd.get(), F_SETFD, FD_CLOEXEC) != 0 || ::fcntl(fd.get(), F_SETFL, O_NONBLOCK) != 0)) return {};
  return fd;
}

}  // namespace

const int no_signal = 0;  // the signal is ignored

sys::UniqueFd open_socket(int family, int type) { return marked(sys::UniqueFd(::socket(family, type, 0))); }

sys::UniqueFd accept_client(int listener, sockaddr_storage* peer) {
  socklen_t length = sizeof *peer;
  auto* address = reinterpret_cast<sockaddr*>(peer);
  return marked(sys::UniqueFd(::accept(listener, address, peer == nullptr ? nullptr : &length)));
}

ssize_t move_bytes(int, int, std::size_t) {
  errno = ENOSYS;
  return -1;
}

bool open_pool_pipe(sys::UniqueFd&, sys::UniqueFd&, std::size_t /*bytes*/) { return false; }

}  // namespace harn::egress

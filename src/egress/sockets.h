// SPDX-License-Identifier: Apache-2.0
// Sockets and pipes that never block and are closed at exec, as each system makes them.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstddef>

#include "sys/unique_fd.h"

namespace harn::egress {

sys::UniqueFd open_socket(int family, int type);
// The next client of a listener, and where it comes from; errno where there is none.
sys::UniqueFd accept_client(int listener, sockaddr_storage* peer = nullptr);

// A flag of send(): nobody is ended for writing to somebody who left. A relay ignores the signal as well.
extern const int no_signal;

// Moves bytes from one descriptor to another without copying them, one of which is a pipe; as splice(2) answers. Where there is
// no such call, open_pool_pipe() fails and this is never called.
ssize_t move_bytes(int from, int to, std::size_t most);
// `bytes`: what it is to hold, where the kernel lets it; 0 = what every pipe does.
bool open_pool_pipe(sys::UniqueFd& reader, sys::UniqueFd& writer, std::size_t bytes);

}  // namespace harn::egress

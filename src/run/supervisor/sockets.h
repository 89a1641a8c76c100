// SPDX-License-Identifier: Apache-2.0
// Where an address of the caller leads, and whether its command may go there: shared by connecting and sending.
#pragma once

#include <sys/socket.h>

#include "run/supervisor/calls.h"

namespace harn::run::supervisor {

// Copied once; where it is a path, what we give to the kernel instead of it is the socket itself.
struct Address {
  alignas(sockaddr_storage) char bytes[sizeof(sockaddr_storage)] = {};
  std::size_t size = 0;
  Fd object = {};

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(bytes); }
};

// The caller's socket as one of ours, and its family.
struct Socket {
  Fd fd = {};
  int family = 0;
  int type = 0;
};

Word take_socket(const Request& request, int descriptor, Socket& out);
Word read_address(const Request& request, std::uint64_t from, std::uint64_t size, Address& out);
// 0 once `address` may be used on `socket`.
Word aim(const Request& request, const Socket& socket, Address& address);
bool would_wait(const Socket& socket);
Word connect_without_waiting(const Socket& socket, const Address& address);

inline sa_family_t family_of(const Address& address) {
  sa_family_t family = AF_UNSPEC;
  if (address.size >= sizeof family) __builtin_memcpy(&family, address.bytes, sizeof family);
  return family;
}

// led.cpp. Sockets of the host's own network, where a relay decides about hosts.
bool is_led(const Request& request, const Socket& socket);
Word lead_connection(const Request& request, const Socket& socket, Address& address);
Word lead_message(const Request& request, const Socket& socket, Address& address);
Word lead_binding(const Address& address);

}  // namespace harn::run::supervisor

// SPDX-License-Identifier: Apache-2.0
// Between our addresses and the kernel's.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>

#include "policy/ip_address.h"
#include "sys/unique_fd.h"

namespace harn::egress {

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

SocketAddress socket_address(const policy::IpBlock& address, std::uint16_t port);

struct Endpoint {
  policy::IpBlock address = {};  // ::ffff:a.b.c.d as IPv4
  std::uint16_t port = 0;
};
std::optional<Endpoint> endpoint_of(const sockaddr_storage& storage);
policy::IpBlock ip_of(const in6_addr& address);   // the same
in6_addr in6_of(const policy::IpBlock& address);  // IPv4 as ::ffff:a.b.c.d

// Where a connection was meant to go.
std::optional<Endpoint> destination_of(int fd);

// Closed with a reset, so that the other side learns that something went wrong.
void reset_connection(sys::UniqueFd fd);
void send_at_once(int fd);  // TCP_NODELAY

}  // namespace harn::egress

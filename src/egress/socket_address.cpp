// SPDX-License-Identifier: Apache-2.0
#include "egress/socket_address.h"

#include <netinet/tcp.h>

#include <algorithm>
#include <cstring>

namespace harn::egress {

SocketAddress socket_address(const policy::IpBlock& address, std::uint16_t port) {
  SocketAddress out;
  if (address.v6) {
    sockaddr_in6 v6 = {};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    std::ranges::copy(address.bits, v6.sin6_addr.s6_addr);
    std::memcpy(&out.storage, &v6, sizeof v6);
    out.length = sizeof v6;
    return out;
  }
  sockaddr_in v4 = {};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  std::memcpy(&v4.sin_addr, address.bits.data(), 4);
  std::memcpy(&out.storage, &v4, sizeof v4);
  out.length = sizeof v4;
  return out;
}

policy::IpBlock ip_of(const in6_addr& address) {
  policy::IpBlock block{.v6 = true, .bits = {}, .length = 128};
  std::ranges::copy(address.s6_addr, block.bits.begin());
  return policy::fold_mapped(block);
}

in6_addr in6_of(const policy::IpBlock& address) {
  in6_addr out = {};
  if (address.v6) {
    std::ranges::copy(address.bits, out.s6_addr);
    return out;
  }
  out.s6_addr[10] = out.s6_addr[11] = 0xff;
  std::copy(address.bits.begin(), address.bits.begin() + 4, out.s6_addr + 12);
  return out;
}

std::optional<Endpoint> endpoint_of(const sockaddr_storage& storage) {
  if (storage.ss_family == AF_INET6) {
    sockaddr_in6 v6 = {};
    std::memcpy(&v6, &storage, sizeof v6);
    return Endpoint{ip_of(v6.sin6_addr), ntohs(v6.sin6_port)};
  }
  if (storage.ss_family != AF_INET) return std::nullopt;
  sockaddr_in v4 = {};
  std::memcpy(&v4, &storage, sizeof v4);
  Endpoint out{.address = {.v6 = false, .bits = {}, .length = 32}, .port = ntohs(v4.sin_port)};
  std::memcpy(out.address.bits.data(), &v4.sin_addr, 4);
  return out;
}

std::optional<Endpoint> destination_of(int fd) {
  sockaddr_storage storage = {};
  socklen_t length = sizeof storage;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &length) != 0) return std::nullopt;
  return endpoint_of(storage);
}

void reset_connection(sys::UniqueFd fd) {
  const linger at_once = {.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

void send_at_once(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace harn::egress

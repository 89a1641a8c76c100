// SPDX-License-Identifier: Apache-2.0
// Sockets of the host's own network: whatever address they name, they are led to the relay on its loopback, which is told
// where they wanted to go and decides. So nothing here judges an address, and nothing a caller rewrites changes where its socket is.
#include <fcntl.h>
#include <netinet/in.h>

#include "run/supervisor/sockets.h"
#include "sys/announcement.h"

namespace harn::run::supervisor {
namespace {

using sys::AnnouncedKind;
using sys::Announcement;

constexpr std::uint16_t resolvers = 53;
constexpr std::uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::uint8_t loopback[4] = {127, 0, 0, 1};

std::uint16_t swapped(std::uint16_t value) { return __builtin_bswap16(value); }

// Where the caller wants to go; false when it is no address of such a socket.
bool read_wish(const Address& address, Announcement& wish) {
  if (family_of(address) == AF_INET && address.size >= sizeof(sockaddr_in)) {
    sockaddr_in wanted = {};
    __builtin_memcpy(&wanted, address.bytes, sizeof wanted);
    wish.port = swapped(wanted.sin_port);
    __builtin_memcpy(wish.address, mapped, sizeof mapped);
    __builtin_memcpy(wish.address + sizeof mapped, &wanted.sin_addr, sizeof wanted.sin_addr);
    return true;
  }
  if (family_of(address) != AF_INET6 || address.size < offsetof(sockaddr_in6, sin6_scope_id)) return false;
  sockaddr_in6 wanted = {};
  __builtin_memcpy(&wanted, address.bytes, offsetof(sockaddr_in6, sin6_scope_id));
  wish.port = swapped(wanted.sin6_port);
  __builtin_memcpy(wish.address, &wanted.sin6_addr, sizeof wish.address);
  return true;
}

// A port of the host's loopback, in the words of the socket's family.
void point_at(const Socket& socket, std::uint16_t port, Address& out) {
  __builtin_memset(out.bytes, 0, sizeof out.bytes);
  if (socket.family == AF_INET) {
    sockaddr_in there = {};
    there.sin_family = AF_INET;
    there.sin_port = swapped(port);
    __builtin_memcpy(&there.sin_addr, loopback, sizeof loopback);
    __builtin_memcpy(out.bytes, &there, sizeof there);
    out.size = sizeof there;
    return;
  }
  sockaddr_in6 there = {};
  there.sin6_family = AF_INET6;
  there.sin6_port = swapped(port);
  __builtin_memcpy(&there.sin6_addr, mapped, sizeof mapped);
  __builtin_memcpy(reinterpret_cast<char*>(&there.sin6_addr) + sizeof mapped, loopback, sizeof loopback);
  __builtin_memcpy(out.bytes, &there, sizeof there);
  out.size = sizeof there;
}

std::uint16_t own_port(const Socket& socket) {
  alignas(sockaddr_in6) char bytes[sizeof(sockaddr_in6)] = {};
  unsigned size = sizeof bytes;
  if (raw_syscall(SYS_getsockname, socket.fd.get(), word_of(bytes), word_of(&size)) < 0) return 0;
  std::uint16_t port = 0;  // in the same place of both families
  __builtin_memcpy(&port, bytes + offsetof(sockaddr_in, sin_port), sizeof port);
  return swapped(port);
}

// The relay reads whatever else happens; it ends only with the run.
bool announce(const Request& request, const Announcement& said) {
  return raw_syscall(SYS_sendto, request.reach.announcements, word_of(&said), sizeof said, MSG_NOSIGNAL, 0, 0) ==
         static_cast<Word>(sizeof said);
}

Word refuse_datagram(const Request& request, Announcement wish) {
  wish.kind = AnnouncedKind::refused;
  if (wish.port != 0) announce(request, wish);  // port 0 asks for a route only
  return -ENETUNREACH;
}

Word bind_to_loopback(const Socket& socket) {
  if (own_port(socket) != 0) return 0;
  Address here;
  point_at(socket, 0, here);
  const Word result = raw_syscall(SYS_bind, socket.fd.get(), word_of(here.bytes), static_cast<Word>(here.size));
  return result < 0 ? -ENETUNREACH : 0;  // a socket that wants IPv6 only
}

// Announced before it asks: whoever is not known gets no answer.
Word lead_to_resolver(const Request& request, const Socket& socket, Announcement wish, Address& out) {
  if (wish.port != resolvers) return refuse_datagram(request, wish);
  if (const Word result = bind_to_loopback(socket); result < 0) return result;
  wish.kind = AnnouncedKind::resolver;
  wish.from = own_port(socket);
  if (wish.from == 0 || !announce(request, wish)) return refuse();
  point_at(socket, request.reach.resolver_port, out);
  return 0;
}

}  // namespace

bool is_led(const Request& request, const Socket& socket) {
  return request.reach.stream_port != 0 && (socket.family == AF_INET || socket.family == AF_INET6);
}

Word lead_message(const Request& request, const Socket& socket, Address& address) {
  Announcement wish;
  if (socket.type == SOCK_STREAM) address.size = 0;  // to whom it is connected, whatever stands there
  if (address.size == 0) return 0;
  if (!read_wish(address, wish)) return -EAFNOSUPPORT;
  return lead_to_resolver(request, socket, wish, address);
}

Word lead_connection(const Request& request, const Socket& socket, Address& address) {
  if (family_of(address) == AF_UNSPEC)
    return raw_syscall(SYS_connect, socket.fd.get(), word_of(address.bytes), static_cast<Word>(address.size));
  Announcement wish;
  if (!read_wish(address, wish)) return address.size < sizeof(sockaddr_in) ? -EINVAL : -EAFNOSUPPORT;
  if (socket.type != SOCK_STREAM) {
    if (const Word result = lead_to_resolver(request, socket, wish, address); result < 0) return result;
    return raw_syscall(SYS_connect, socket.fd.get(), word_of(address.bytes), static_cast<Word>(address.size));
  }
  point_at(socket, request.reach.stream_port, address);
  const Word result = connect_without_waiting(socket, address);
  if (result != 0 && result != -EINPROGRESS) return result;
  wish.from = own_port(socket);
  if (wish.from != 0 && announce(request, wish)) return 0;
  raw_syscall(SYS_shutdown, socket.fd.get(), SHUT_RDWR);
  return -ECONNREFUSED;
}

// A socket that is not connected needs no port: it could wait there for what others of the host send.
Word lead_binding(const Address& address) {
  Announcement wish;
  if (!read_wish(address, wish)) return -EAFNOSUPPORT;
  return wish.port != 0 ? refuse() : 0;
}

}  // namespace harn::run::supervisor

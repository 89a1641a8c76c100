// SPDX-License-Identifier: Apache-2.0
// Ways to the network. Whatever is reached is a listener of the test on this machine's loopback.
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe.h"

namespace probe {
namespace {

constexpr int multipath = 262;  // IPPROTO_MPTCP
constexpr int fast_open = 0x20000000;

sockaddr_in loopback(const std::string& port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(::atoi(port.c_str())));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int connect_with(int protocol, const std::string& port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, protocol);
  if (fd < 0) return errno;
  const auto address = loopback(port);
  return verdict(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address));
}

int tcp_connect(Args args) { return connect_with(0, args[0]); }
int multipath_connect(Args args) { return connect_with(multipath, args[0]); }

int tcp6_connect(Args args) {
  const int fd = ::socket(AF_INET6, SOCK_STREAM, 0);
  if (fd < 0) return errno;
  sockaddr_in6 address = {};
  address.sin6_family = AF_INET6;
  address.sin6_port = loopback(args[0]).sin_port;
  // A mapped address reaches the same listener.
  ::inet_pton(AF_INET6, "::ffff:127.0.0.1", &address.sin6_addr);
  return verdict(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address));
}

int tcp_listen(Args) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0) return errno;
  const auto address = loopback("0");
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return errno;
  return verdict(::listen(fd, 1));
}

// Listening without bind takes a port of the kernel's choice.
int tcp_listen_unbound(Args) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  return fd < 0 ? errno : verdict(::listen(fd, 1));
}

int tcp_fast_open(Args args) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0) return errno;
  const auto address = loopback(args[0]);
  return verdict(::sendto(fd, "x", 1, fast_open | MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), sizeof address));
}

int udp_send(Args args) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
  if (fd < 0) return errno;
  const auto address = loopback(args[0]);
  return verdict(::sendto(fd, "x", 1, 0, reinterpret_cast<const sockaddr*>(&address), sizeof address));
}

int udp_bind(Args) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
  if (fd < 0) return errno;
  const auto address = loopback("0");
  return verdict(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address));
}

// Where the kernel lacks a family, EAFNOSUPPORT is as far as anybody gets.
int family(Args args) { return verdict(::socket(::atoi(args[0].c_str()), ::atoi(args[1].c_str()), ::atoi(args[2].c_str()))); }

int pair_family(Args args) {
  int ends[2] = {};
  return verdict(::socketpair(::atoi(args[0].c_str()), ::atoi(args[1].c_str()), 0, ends));
}

// High bits of an int parameter are dropped by the kernel and must be dropped by the filter.
int disguised_family(Args) { return verdict(::syscall(SYS_socket, 0x100000002L, SOCK_STREAM, 0L)); }
int disguised_type(Args) { return verdict(::syscall(SYS_socket, AF_INET, 0x100000002L, 0L)); }

constexpr Probe table[] = {
    {"tcp_connect", tcp_connect},
    {"tcp6_connect", tcp6_connect},
    {"multipath_connect", multipath_connect},
    {"tcp_listen", tcp_listen},
    {"tcp_listen_unbound", tcp_listen_unbound},
    {"tcp_fast_open", tcp_fast_open},
    {"udp_send", udp_send},
    {"udp_bind", udp_bind},
    {"socket_family", family},
    {"socketpair_family", pair_family},
    {"disguised_family", disguised_family},
    {"disguised_type", disguised_type},
};

}  // namespace

Probes network() { return table; }

}  // namespace probe

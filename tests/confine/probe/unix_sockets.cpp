// SPDX-License-Identifier: Apache-2.0
// Ways to services of this machine that listen on Unix sockets. A name that begins with '@' is
// abstract.
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>

#include "probe.h"

namespace probe {
namespace {

struct Address {
  sockaddr_un name = {};
  socklen_t size = 0;

  explicit Address(const std::string& text) {
    name.sun_family = AF_UNIX;
    text.copy(name.sun_path, sizeof name.sun_path - 1);
    if (text.starts_with('@')) name.sun_path[0] = '\0';
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + text.size() + (text.starts_with('@') ? 0 : 1));
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

int connect_as(int type, const std::string& text) {
  const int fd = ::socket(AF_UNIX, type, 0);
  const Address address(text);
  return fd < 0 ? errno : verdict(::connect(fd, address.get(), address.size));
}

int connect_stream(Args args) { return connect_as(SOCK_STREAM, args[0]); }
int connect_datagram(Args args) { return connect_as(SOCK_DGRAM, args[0]); }

int send_datagram(Args args) {
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  const Address address(args[0]);
  return fd < 0 ? errno : verdict(::sendto(fd, "x", 1, 0, address.get(), address.size));
}

// One end of a pair can be turned towards anybody.
int send_from_pair(Args args) {
  int ends[2] = {};
  if (::socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) return errno;
  const Address address(args[0]);
  return verdict(::sendto(ends[0], "x", 1, 0, address.get(), address.size));
}

int message_from_pair(Args args) {
  int ends[2] = {};
  if (::socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) return errno;
  Address address(args[0]);
  char byte = 'x';
  iovec part = {&byte, 1};
  msghdr message = {};
  message.msg_name = &address.name;
  message.msg_namelen = address.size;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  return verdict(::sendmsg(ends[0], &message, 0));
}

int reconnect_pair(Args args) {
  int ends[2] = {};
  if (::socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) return errno;
  const Address address(args[0]);
  return verdict(::connect(ends[0], address.get(), address.size));
}

// The path is reached through a link of one's own.
int connect_by_link(Args args) {
  if (::symlink(args[0].c_str(), args[1].c_str()) != 0) return errno;
  return connect_as(SOCK_STREAM, args[1]);
}

// A raw AF_UNIX socket is a datagram socket under another name.
int send_raw(Args args) {
  const int fd = ::socket(AF_UNIX, SOCK_RAW, 0);
  const Address address(args[0]);
  return fd < 0 ? errno : verdict(::sendto(fd, "x", 1, 0, address.get(), address.size));
}

// A name outside can take is a name a program there may believe.
int impersonate(Args args) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  const Address address(args[0]);
  if (fd < 0 || ::bind(fd, address.get(), address.size) != 0) return errno;
  return verdict(::listen(fd, 1));
}

int out_of_band(Args) {
  int ends[2] = {};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return errno;
  return verdict(::send(ends[0], "x", 1, MSG_OOB | MSG_NOSIGNAL));
}

int out_of_band_message(Args) {
  int ends[2] = {};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return errno;
  char byte = 'x';
  iovec part = {&byte, 1};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  return verdict(::sendmsg(ends[0], &message, MSG_OOB | MSG_NOSIGNAL));
}

constexpr Probe table[] = {
    {"unix_connect", connect_stream},
    {"unix_connect_datagram", connect_datagram},
    {"unix_send", send_datagram},
    {"unix_send_raw", send_raw},
    {"unix_send_from_pair", send_from_pair},
    {"unix_message_from_pair", message_from_pair},
    {"unix_reconnect_pair", reconnect_pair},
    {"unix_connect_by_link", connect_by_link},
    {"unix_impersonate", impersonate},
    {"unix_out_of_band", out_of_band},
    {"unix_out_of_band_message", out_of_band_message},
};

}  // namespace

Probes unix_sockets() { return table; }

}  // namespace probe

// SPDX-License-Identifier: Apache-2.0
// Ways to services of this machine that listen on Unix sockets. A name that begins with '@' is
// abstract.
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

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

// A message that hands something over: one descriptor, or who we are.
int send_with(Args args, int kind, const void* bytes, std::size_t size) {
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  if (fd < 0) return errno;
  Address address(args[0]);
  char byte = 'x';
  iovec part = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))] = {};
  msghdr message = {};
  message.msg_name = &address.name;
  message.msg_namelen = address.size;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(size);
  auto* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = kind;
  head->cmsg_len = CMSG_LEN(size);
  std::memcpy(CMSG_DATA(head), bytes, size);
  return verdict(::sendmsg(fd, &message, 0));
}
int send_descriptor(Args args) {
  const int handed = 1;
  return send_with(args, SCM_RIGHTS, &handed, sizeof handed);
}
int send_missing_descriptor(Args args) {
  const int handed = 777;
  return send_with(args, SCM_RIGHTS, &handed, sizeof handed);
}
int send_credentials(Args args) {
  const ucred self = {.pid = ::getpid(), .uid = ::getuid(), .gid = ::getgid()};
  return send_with(args, SCM_CREDENTIALS, &self, sizeof self);
}

// Two messages at once, the second to whom the first argument after it names.
int send_many(Args args) {
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  if (fd < 0) return errno;
  Address first(args[0]);
  Address second(args[1]);
  char byte = 'x';
  iovec part = {&byte, 1};
  mmsghdr messages[2] = {};
  for (int i = 0; i < 2; ++i) {
    messages[i].msg_hdr.msg_name = i == 0 ? &first.name : &second.name;
    messages[i].msg_hdr.msg_namelen = i == 0 ? first.size : second.size;
    messages[i].msg_hdr.msg_iov = &part;
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  const int sent = ::sendmmsg(fd, messages, 2, 0);
  if (sent < 0) return errno;
  if (sent == 2) return messages[0].msg_len == 1 && messages[1].msg_len == 1 ? 0 : EBADMSG;
  return ::sendmmsg(fd, messages + 1, 1, 0) == 1 ? 0 : errno;  // as every caller does: the rest again
}

// A name of one's own, sent to by another socket that has one too; the answer goes where the message says it came from.
int answer_datagram(Args args) {
  const int server = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  const int client = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  if (server < 0 || client < 0) return errno;
  const Address here(args[0] + "-server");
  const Address there(args[0] + "-client");
  if (::bind(server, here.get(), here.size) != 0 || ::bind(client, there.get(), there.size) != 0) return errno;
  if (::sendto(client, "ask", 3, 0, here.get(), here.size) != 3) return errno;
  sockaddr_un from = {};
  socklen_t size = sizeof from;
  char text[8] = {};
  if (::recvfrom(server, text, sizeof text, 0, reinterpret_cast<sockaddr*>(&from), &size) != 3) return errno;
  if (::sendto(server, "answer", 6, 0, reinterpret_cast<sockaddr*>(&from), size) != 6) return errno;
  return ::recv(client, text, sizeof text, MSG_DONTWAIT) == 6 ? 0 : errno;
}

// More than fits at once over a stream, by messages, to somebody who reads slowly.
int stream_of_messages(Args) {
  int ends[2] = {};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return errno;
  constexpr std::size_t all = 3'000'000;
  const pid_t reader = ::fork();
  if (reader == 0) {
    ::usleep(20'000);
    std::vector<char> block(65'536);
    std::size_t got = 0;
    while (got < all) {
      const ssize_t now = ::read(ends[1], block.data(), block.size());
      if (now <= 0) ::_exit(1);
      got += static_cast<std::size_t>(now);
    }
    ::_exit(0);
  }
  std::vector<char> block(all);
  for (std::size_t sent = 0; sent < all;) {
    iovec part = {block.data() + sent, all - sent};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    const ssize_t now = ::sendmsg(ends[0], &message, 0);
    if (now <= 0) return errno;
    sent += static_cast<std::size_t>(now);
  }
  int status = -1;
  return ::waitpid(reader, &status, 0) == reader && status == 0 ? 0 : EIO;
}

// Everybody who waits in line is served in turn: the line is longer than the server's.
int queue_to_connect(Args args) {
  const int server = ::socket(AF_UNIX, SOCK_STREAM, 0);
  const Address address(args[0]);
  if (server < 0 || ::bind(server, address.get(), address.size) != 0 || ::listen(server, 1) != 0) return errno;
  constexpr int most = 8;
  for (int i = 0; i < most; ++i)
    if (::fork() == 0) {
      const int client = ::socket(AF_UNIX, SOCK_STREAM, 0);
      ::_exit(::connect(client, address.get(), address.size) == 0 ? 0 : 1);
    }
  for (int i = 0; i < most; ++i) {
    ::usleep(2'000);
    if (::accept(server, nullptr, nullptr) < 0) return errno;
  }
  for (int i = 0; i < most; ++i) {
    int status = -1;
    if (::wait(&status) < 0 || status != 0) return EIO;
  }
  return 0;
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
    {"unix_send_descriptor", send_descriptor},
    {"unix_send_missing_descriptor", send_missing_descriptor},
    {"unix_send_credentials", send_credentials},
    {"unix_send_many", send_many},
    {"unix_answer_datagram", answer_datagram},
    {"unix_stream_of_messages", stream_of_messages},
    {"unix_queue_to_connect", queue_to_connect},
    {"unix_out_of_band", out_of_band},
    {"unix_out_of_band_message", out_of_band_message},
};

}  // namespace

Probes unix_sockets() { return table; }

}  // namespace probe

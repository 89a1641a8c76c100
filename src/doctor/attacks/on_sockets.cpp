// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>

#include "doctor/attacks/inside.h"
#include "sys/unique_fd.h"

namespace harn::doctor {
namespace {

sockaddr_in loopback(long port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int connect_unix(std::string_view name, bool abstract) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::size_t first = abstract ? 1 : 0;
  if (name.empty() || name.size() + first >= sizeof address.sun_path) return EINVAL;
  std::ranges::copy(name, address.sun_path + first);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + first + name.size());
  const sys::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return errno;
  return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0 ? 0 : errno;
}

}  // namespace

int connect_port(const Targets& at) {
  const auto address = loopback(at.number("port"));
  const sys::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return errno;
  return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
}

int send_datagram(const Targets& at) {
  const auto address = loopback(at.number("udp_port"));
  const sys::UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd) return errno;
  return ::sendto(fd.get(), "!", 1, 0, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 1 ? 0 : errno;
}

int connect_abstract(const Targets& at) { return connect_unix(at.text("abstract"), /*abstract=*/true); }
int connect_named(const Targets& at) { return connect_unix(at.text("named"), /*abstract=*/false); }

}  // namespace harn::doctor

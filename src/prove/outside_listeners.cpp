// SPDX-License-Identifier: Apache-2.0
#include "prove/outside_listeners.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

namespace harn::prove {
namespace {

constexpr int backlog = 16;

std::uintptr_t word(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

sys::UniqueFd listen_at(int family, const void* address, socklen_t length) {
  sys::UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd || ::bind(fd.get(), static_cast<const sockaddr*>(address), length) != 0 || ::listen(fd.get(), backlog) != 0) return {};
  return fd;
}

run::Trial call_on_socket(std::string what, int family, run::child::Call call) {
  call.arguments[0] = run::child::first_answer;
  return {.what = std::move(what),
          .calls = {{.number = SYS_socket, .arguments = {static_cast<std::uintptr_t>(family), SOCK_STREAM | SOCK_CLOEXEC}}, call}};
}

}  // namespace

OutsideListeners::OutsideListeners(const AbsPath& directory) {
  any_port_.sin_family = AF_INET;
  any_port_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  tcp_ = listen_at(AF_INET, &any_port_, sizeof any_port_);
  socklen_t length = sizeof tcp_address_;
  if (tcp_) ::getsockname(tcp_.get(), reinterpret_cast<sockaddr*>(&tcp_address_), &length);

  // The kernel picks a name nobody else has.
  const sa_family_t family = AF_UNIX;
  abstract_ = listen_at(AF_UNIX, &family, sizeof family);
  abstract_length_ = sizeof abstract_address_;
  if (abstract_) ::getsockname(abstract_.get(), reinterpret_cast<sockaddr*>(&abstract_address_), &abstract_length_);

  named_address_.sun_family = AF_UNIX;
  const auto path = directory.join("listener").text();
  if (path.size() >= sizeof named_address_.sun_path) return;
  std::ranges::copy(path, named_address_.sun_path);
  named_ = listen_at(AF_UNIX, &named_address_, sizeof named_address_);
}

run::Trial OutsideListeners::connect_tcp() const {
  return call_on_socket("reach a port outside", AF_INET,
                        {.number = SYS_connect, .arguments = {0, word(&tcp_address_), sizeof tcp_address_}});
}

run::Trial OutsideListeners::bind_tcp() const {
  return call_on_socket("take a port", AF_INET, {.number = SYS_bind, .arguments = {0, word(&any_port_), sizeof any_port_}});
}

run::Trial OutsideListeners::connect_abstract() const {
  return call_on_socket("reach an abstract socket outside", AF_UNIX,
                        {.number = SYS_connect, .arguments = {0, word(&abstract_address_), abstract_length_}});
}

run::Trial OutsideListeners::connect_named() const {
  return call_on_socket("reach a named socket outside", AF_UNIX,
                        {.number = SYS_connect, .arguments = {0, word(&named_address_), sizeof named_address_}});
}

}  // namespace harn::prove

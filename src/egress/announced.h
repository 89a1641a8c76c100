// SPDX-License-Identifier: Apache-2.0
// Connections a supervisor led here from the host's own network. Who they are is their port on loopback, and where they
// wanted to go is told apart from them: whichever comes first waits for the other, and nobody who was not announced is served.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>

#include "egress/relay_state.h"
#include "egress/socket_address.h"
#include "sys/announcement.h"

namespace harn::egress {

class Announced {
 public:
  using Serve = std::function<void(sys::UniqueFd client, const Endpoint& wanted)>;
  Announced(RelayState& state, Serve serve) : state_(state), serve_(std::move(serve)) {}

  void listen_to(sys::UniqueFd announcements);
  // A connection that came from `peer`.
  void arrived(sys::UniqueFd client, const sockaddr_storage& peer);
  // Whether whoever asks the resolver was announced. That was said before the question was sent, but may be read after it.
  bool may_ask(const sockaddr_storage& peer);
  bool busy() const { return !waiting_.empty() || !told_.empty(); }
  void tick();

 private:
  struct Waiting {
    sys::UniqueFd client = {};
    Clock::time_point since = {};
  };
  struct Told {
    Endpoint wanted = {};
    Clock::time_point since = {};
  };
  void hear();
  void take(const sys::Announcement& said);

  RelayState& state_;
  Serve serve_;
  sys::UniqueFd announcements_ = {};
  EventLoop::Watch watch_ = {};
  std::map<std::uint16_t, Waiting> waiting_ = {};
  std::map<std::uint16_t, Told> told_ = {};
  std::map<std::uint16_t, Clock::time_point> resolver_clients_ = {};
};

}  // namespace harn::egress

// SPDX-License-Identifier: Apache-2.0
// Connections and datagrams to ports nobody serves are refused by the kernel before we could see them.
// Raw sockets inside get copies of their first packets, so that they can be reported.
#pragma once

#include <optional>

#include "egress/relay_state.h"
#include "egress/socket_address.h"
#include "sys/gates.h"

namespace harn::egress {

// Where a packet wanted to go: IPv4 with its header, IPv6 without.
std::optional<Endpoint> read_ipv4_target(ByteView packet);

class RefusedPackets {
 public:
  RefusedPackets(RelayState& state, sys::UniqueFd socket, const sys::GateNote& note, const std::vector<std::uint16_t>& served);
  RefusedPackets(const RefusedPackets&) = delete;
  RefusedPackets& operator=(const RefusedPackets&) = delete;

 private:
  void read();
  void report(const Endpoint& target);

  RelayState& state_;
  sys::UniqueFd socket_;
  sys::GateNote note_;
  const std::vector<std::uint16_t>& served_;
  EventLoop::Watch watch_ = {};
};

}  // namespace harn::egress

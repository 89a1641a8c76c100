// SPDX-License-Identifier: Apache-2.0
// The relay: everything that leaves a sandbox in restricted mode passes through here, outside, after the
// same decision for every program and protocol.
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "egress/announced.h"
#include "egress/control.h"
#include "egress/dns_server.h"
#include "egress/refused_packets.h"
#include "egress/relay_state.h"
#include "sys/gates.h"

namespace harn::egress {

class Relay {
 public:
  // Fails when a rule is not one.
  static Result<std::unique_ptr<Relay>> make(EventLoop& loop, RelaySettings settings);
  // Where questions go; without it there are none.
  void ask_by(std::function<bool(std::string_view line)> say) { state_.say = std::move(say); }
  void answer(std::uint64_t question, bool allowed);

  void add_gate(const sys::GateNote& note, sys::UniqueFd socket);
  // Other rules, from now on and for connections that are open. An error changes nothing.
  Status apply(RelaySettings settings);
  // Whoever it served is gone, or its owner said so.
  bool ended() const { return ended_; }
  bool knows_whom_it_serves() const { return static_cast<bool>(life_); }
  // Waits for something to happen and does it.
  void turn();
  // What happened so far, for the launcher.
  std::vector<std::string> report() const { return state_.ledger.lines(); }
  std::size_t connections() const { return state_.connections.size(); }

 private:
  struct Gate {
    sys::GateNote note = {};
    sys::UniqueFd socket = {};
    EventLoop::Watch watch = {};
  };
  Relay(EventLoop& loop, RelaySettings settings, policy::EgressRules rules);
  template <class Act>
  void for_each_connection(Act act);
  void accept_from(Gate& gate);
  bool has_room();
  void take(const Gate& gate, sys::UniqueFd client);
  void make_room(Gate& gate);

  void lead(sys::UniqueFd client, const Endpoint& wanted);

  RelayState state_;
  DnsServer dns_;
  Control control_;
  Announced announced_;
  std::list<Gate> gates_ = {};
  std::vector<std::unique_ptr<RefusedPackets>> refused_ = {};
  std::vector<std::uint16_t> served_ = {};
  sys::UniqueFd spare_ = {};  // given up for a moment when there are no descriptors left
  Clock::time_point next_tick_ = {};
  sys::UniqueFd life_ = {};
  EventLoop::Watch life_watch_ = {};
  bool ended_ = false;
};

}  // namespace harn::egress

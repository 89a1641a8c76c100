// SPDX-License-Identifier: Apache-2.0
// What the parts of a relay share. One thread, so nobody locks anything.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "egress/event_loop.h"
#include "egress/ledger.h"
#include "egress/lookup.h"
#include "egress/name_table.h"
#include "egress/settings.h"
#include "egress/socket_address.h"
#include "egress/stream.h"
#include "policy/egress_rules.h"

namespace harn::egress {

class Connection;

struct RelayState {
  RelayState(EventLoop& the_loop, RelaySettings the_settings, policy::EgressRules the_rules);
  ~RelayState();
  RelayState(const RelayState&) = delete;
  RelayState& operator=(const RelayState&) = delete;

  EventLoop& loop;
  RelaySettings settings;
  policy::EgressRules rules;
  NameTable names;
  Lookup lookup;
  Ledger ledger = {};
  PipePool pipes = {};
  std::vector<sys::UniqueFd> inner = {};  // sockets of the sandbox that are free
  std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections;
  std::uint64_t next_id = 1;
  std::size_t dns_streams = 0;  // resolver clients over TCP

  std::uint64_t free_bytes = 0;                         // of names, chosen by programs
  std::function<bool(std::string_view line)> say = {};  // to the launcher, while the command runs

  Connection* find(std::uint64_t id);
  // Whether an allowed name may be looked up outside. A wildcard lets programs choose part of it, and with it send
  // bytes to whoever serves the suffix; so there are only so many. What is refused is denied as `what`.
  bool may_ask(std::string_view what, const std::string& name);
  void deny(const policy::Destination& destination, std::uint16_t port, policy::Verdict verdict);
  // An address of the host's own table stands for its name, where that is admitted and programs read the table themselves.
  policy::Destination named(const Endpoint& wanted) const;
  // A datagram to somebody else than a resolver.
  void deny_datagram(const Endpoint& target);
  // Whether this is a question now; the connection waits for Relay::answer then.
  bool ask(std::uint64_t connection, const policy::Destination& destination, std::uint16_t port, policy::Verdict verdict) const;
  void withdraw(std::uint64_t connection) const;
  bool asks(policy::Verdict verdict) const { return settings.asks && say && verdict == policy::Verdict::no_rule; }
};

// The flag that would admit it; empty where none would.
std::string remedy_for(const policy::Destination& destination, std::uint16_t port, policy::Verdict verdict);

}  // namespace harn::egress

// SPDX-License-Identifier: Apache-2.0
#include "egress/relay_state.h"

#include <algorithm>

#include <fmt/format.h>

#include "egress/connection.h"
#include "policy/hosts.h"

namespace harn::egress {

RelayState::RelayState(EventLoop& the_loop, RelaySettings the_settings, policy::EgressRules the_rules)
    : loop(the_loop), settings(std::move(the_settings)), rules(std::move(the_rules)), names(rules), lookup(loop, settings) {}

RelayState::~RelayState() = default;

Connection* RelayState::find(std::uint64_t id) {
  const auto found = connections.find(id);
  return found == connections.end() ? nullptr : found->second.get();
}

bool RelayState::may_ask(std::string_view what, const std::string& name) {
  const auto& limits = settings.limits;
  const auto chosen = rules.free_label_bytes(name);
  if (chosen == 0 || names.holds(name)) return true;
  if (chosen > limits.name_bytes || free_bytes + chosen > limits.free_name_bytes) {
    ledger.deny(what, name, "names beneath a wildcard carry only so many bytes of their own", "--allow-host " + name);
    return false;
  }
  free_bytes += chosen;
  return true;
}

void RelayState::deny(const policy::Destination& destination, std::uint16_t port, policy::Verdict verdict) {
  ledger.deny("connect", policy::text_of(HostRule{policy::text_of(destination), port}), policy::why(verdict),
              remedy_for(destination, port, verdict));
}

policy::Destination RelayState::named(const Endpoint& wanted) const {
  policy::Destination literal{.address = wanted.address};
  if (!settings.announced || rules.decide_address(wanted.address, wanted.port) == policy::Verdict::allowed) return literal;
  for (const auto& [name, addresses] : settings.hosts)
    if (std::ranges::find(addresses, wanted.address) != addresses.end() && rules.decide_name(name, wanted.port) == policy::Verdict::allowed)
      return {.name = name};
  return literal;
}

void RelayState::deny_datagram(const Endpoint& target) {
  policy::Destination destination{.address = target.address};
  if (const auto* name = names.name_of(target.address)) destination = {.name = *name};
  ledger.deny("udp", policy::text_of(HostRule{policy::text_of(destination), target.port}),
              "only TCP and questions to Harn's own resolver leave the sandbox", "");
}

bool RelayState::ask(std::uint64_t connection, const policy::Destination& destination, std::uint16_t port, policy::Verdict verdict) const {
  return asks(verdict) && say(fmt::format("ask\t{}\t{}", connection, policy::text_of(HostRule{policy::text_of(destination), port})));
}

void RelayState::withdraw(std::uint64_t connection) const { std::ignore = say(fmt::format("gone\t{}", connection)); }

std::string remedy_for(const policy::Destination& destination, std::uint16_t port, policy::Verdict verdict) {
  using policy::Verdict;
  if (verdict == Verdict::denied || verdict == Verdict::blocked_port || verdict == Verdict::allowed) return {};
  if (destination.name.empty())
    if (const auto range = policy::special_range(destination.address); range && range->loopback) return fmt::format("--host-port {}", port);
  return "--allow-host " + policy::text_of(HostRule{policy::text_of(destination), port});
}

}  // namespace harn::egress

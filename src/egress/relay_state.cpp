// SPDX-License-Identifier: Apache-2.0
#include "egress/relay_state.h"

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

std::string remedy_for(const policy::Destination& destination, std::uint16_t port, policy::Verdict verdict) {
  using policy::Verdict;
  if (verdict == Verdict::denied || verdict == Verdict::blocked_port || verdict == Verdict::allowed) return {};
  if (destination.name.empty())
    if (const auto range = policy::special_range(destination.address); range && range->loopback) return fmt::format("--host-port {}", port);
  return "--allow-host " + policy::text_of(HostRule{policy::text_of(destination), port});
}

}  // namespace harn::egress

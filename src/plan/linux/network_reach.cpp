// SPDX-License-Identifier: Apache-2.0
#include "plan/linux/network_reach.h"

namespace harn::plan {

NetworkReach network_reach(const Policy& policy) {
  const auto& network = policy.effective_network();
  if (policy.level() == SideEffectLevel::network) {
    if (network.mode == NetworkMode::unrestricted) return NetworkReach::unrestricted;
    if (!network.allowed_hosts.empty()) return NetworkReach::restricted;
  }
  return network.loopback ? NetworkReach::loopback : NetworkReach::none;
}

}  // namespace harn::plan

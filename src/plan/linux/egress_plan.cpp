// SPDX-License-Identifier: Apache-2.0
#include "plan/linux/egress_plan.h"

#include <algorithm>
#include <set>

namespace harn::plan {
namespace {

// Of rules that name no port: nobody can wait at every one, and programs inside need most for themselves.
constexpr std::uint16_t usual_ports[] = {22, 80, 443};

std::vector<std::uint16_t> ports_for(const Network& network, std::set<std::uint16_t> ports, bool asks) {
  if (asks) ports.insert(std::begin(usual_ports), std::end(usual_ports));
  for (const auto& rule : network.allowed_hosts) {
    if (rule.port) ports.insert(*rule.port);
    else ports.insert(std::begin(usual_ports), std::end(usual_ports));
  }
  for (const auto port : network.blocked_ports) ports.erase(port);
  return {ports.begin(), ports.end()};
}

}  // namespace

std::optional<EgressPlan> plan_egress(const PlanInput& input, NetworkReach reach) {
  const auto& network = input.policy.effective_network();
  EgressPlan egress{.publish = input.egress.publish};
  std::ranges::sort(egress.publish);
  if (reach != NetworkReach::restricted) return egress.publish.empty() ? std::nullopt : std::optional(std::move(egress));
  egress.allow = network.allowed_hosts;
  egress.deny = input.egress.deny;
  std::ranges::sort(egress.allow);
  std::ranges::sort(egress.deny);
  egress.blocked_ports.assign(network.blocked_ports.begin(), network.blocked_ports.end());
  egress.block_private = input.egress.block_private;
  egress.allow_loopback = input.egress.allow_loopback;
  egress.ports = ports_for(network, input.egress.ports, input.ask);
  egress.asks = input.ask;
  return egress;
}

std::map<std::string, std::string> name_files() {
  return {{"/etc/hosts", "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n"},
          {"/etc/resolv.conf", "nameserver 192.0.0.8\noptions timeout:10 attempts:1\n"}};
}

}  // namespace harn::plan

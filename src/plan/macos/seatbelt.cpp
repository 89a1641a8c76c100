// SPDX-License-Identifier: Apache-2.0
// macOS: one profile for sandbox-exec. Deprecated by Apple for years and still the only mechanism it
// ships for programs outside the App Store; every browser on the platform rests on it.
#include "plan/macos/seatbelt.h"

#include <algorithm>

#include "plan/coverage.h"
#include "plan/environment.h"
#include "plan/limits.h"
#include "plan/linux/dangerous_sockets.h"
#include "plan/linux/egress_plan.h"
#include "plan/linux/network_reach.h"
#include "plan/macos/seatbelt_base.h"
#include "plan/macos/seatbelt_paths.h"
#include "plan/macos/swiftpm.h"
#include "plan/workspace_scratch.h"

namespace harn::plan {
namespace {

constexpr std::string_view layer = "sbpl";
constexpr std::string_view resolver = "/private/var/run/mDNSResponder";

// Arguments and environment share one mebibyte on macOS; a longer profile travels as a file.
constexpr std::size_t longest_argument = std::size_t{128} * 1024;

SbplFilter relay_filter(std::string_view port) { return {SbplMatch::remote_address, "localhost:" + std::string(port)}; }

void add_network(const Policy& policy, std::vector<SbplRule>& rules) {
  const auto& network = policy.effective_network();
  const auto reach = network_reach(policy);
  if (reach == NetworkReach::unrestricted) {
    rules.push_back({true, {"network*", "system-socket"}, {}, "network"});
    rules.push_back({false, {"network-outbound"}, {{SbplMatch::any_socket, {}}}, "Unix sockets are listed one by one"});
    SbplRule blocked{false, {"network-outbound"}, {}, "blocked ports"};
    for (const auto port : network.blocked_ports) blocked.filters.push_back({SbplMatch::remote_address, "*:" + std::to_string(port)});
    if (!blocked.filters.empty()) rules.push_back(std::move(blocked));
  }
  if (reach == NetworkReach::restricted)
    rules.push_back({true, {"network-outbound"}, {relay_filter(relay_port_word)}, "the relay, which decides about hosts"});
  if (reach != NetworkReach::unrestricted && network.loopback) {
    // The remote end on the way out: the local end of every connection is ours, wherever it leads.
    rules.push_back({true, {"network-bind", "network-inbound"}, {{SbplMatch::local_address, "localhost:*"}}, "loopback"});
    rules.push_back({true, {"network-outbound"}, {{SbplMatch::remote_address, "localhost:*"}}, "loopback"});
  }
}

void add_sockets(const Policy& policy, std::vector<SbplRule>& rules) {
  SbplRule open{true, {"network-outbound"}, {}, "Unix sockets are listed one by one"};
  auto sockets = entries(policy.process_sandbox.unix_sockets);
  std::sort(sockets.begin(), sockets.end());
  for (const auto& socket : sockets)
    for (auto& name : macos_names(macos_resolved(socket.path))) open.filters.push_back({SbplMatch::socket, std::move(name)});
  if (!open.filters.empty()) rules.push_back({true, {"system-socket"}, {{SbplMatch::unix_domain, {}}}, open.why});
  if (network_reach(policy) == NetworkReach::unrestricted) open.filters.push_back({SbplMatch::socket, std::string(resolver)});
  if (!open.filters.empty()) rules.push_back(std::move(open));
}

Wrapper wrap(std::string profile, const std::vector<std::string>& argv) {
  Wrapper out{.argv = {"/usr/bin/sandbox-exec"}};
  if (profile.size() <= longest_argument) {
    out.argv.insert(out.argv.end(), {"-p", profile});
  } else {
    out.argv.insert(out.argv.end(), {"-f", "@file:profile.sb"});
    out.files.push_back({"profile.sb", profile});
  }
  out.argv.emplace_back("--");
  out.argv.insert(out.argv.end(), argv.begin(), argv.end());
  out.profile = std::move(profile);
  return out;
}

void cover_network(const Policy& policy, Coverage& coverage) {
  const auto reach = network_reach(policy);
  enforced_by(coverage, Dimension::network, std::string(layer));
  if (reach == NetworkReach::restricted) enforced_by(coverage, Dimension::network, "relay");
  if (reach != NetworkReach::unrestricted && policy.effective_network().loopback)
    open_gap(coverage,
             {.dimension = Dimension::network,
              .code = "loopback_shared",
              .paths = {},
              .detail = "loopback is the host's own: every service listening on localhost can be reached",
              .remedy = "set network.loopback = false"},
             Enforcement::degraded);
}

void cover(const Policy& policy, Coverage& coverage) {
  for (const auto dimension : {Dimension::reads, Dimension::writes, Dimension::credential_reads, Dimension::metadata,
                               Dimension::unix_sockets, Dimension::signals, Dimension::process_inspection, Dimension::devices})
    enforced_by(coverage, dimension, std::string(layer));
  cover_network(policy, coverage);
  open_gap(coverage,
           {.dimension = Dimension::unix_sockets,
            .code = "mach_services_open",
            .paths = {},
            .detail = "system services outside the sandbox can be called; only the keychain, the clipboard and, without network, the "
                      "resolver are closed; what a service does for its caller, it does outside of the profile",
            .remedy = {}},
           Enforcement::degraded);
  open_gap(coverage,
           {.dimension = Dimension::process_inspection,
            .code = "process_listing",
            .paths = {},
            .detail = "names and ids of other processes can be listed; their arguments, environments and memory cannot be read",
            .remedy = {}},
           Enforcement::degraded);
}

}  // namespace

std::vector<SbplRule> seatbelt_rules(const PlanInput& input) {
  auto rules = seatbelt_base(input.policy, input.facts);
  auto paths = seatbelt_path_rules(input.rules);
  rules.insert(rules.end(), std::make_move_iterator(paths.begin()), std::make_move_iterator(paths.end()));
  add_network(input.policy, rules);
  add_sockets(input.policy, rules);
  return rules;
}

Status lower_seatbelt(const PlanInput& input, Plan& plan) {
  HARN_OK(refuse_dangerous_sockets(input.policy));
  plan.argv = with_swiftpm_options(input.command.argv);
  if (plan.argv != input.command.argv)
    plan.notes.emplace_back("SwiftPM's own sandbox is off: sandboxes do not nest on macOS, and this one is around it");
  plan.notes.emplace_back("names directly in / can be listed: the loader needs that");
  plan.confinement = wrap(sbpl_text(seatbelt_rules(input)), plan.argv);
  if (network_reach(input.policy) == NetworkReach::restricted) {
    plan.egress = plan_egress(input, NetworkReach::restricted);
    plan.egress->ports.clear();  // nobody waits at the hosts' own ports
    plan.egress->relay_port = 0;
    point_every_proxy_at_relay(input.policy, plan);
    plan.notes.emplace_back(
        "hosts are reached through a relay on this machine: programs that follow neither HTTPS_PROXY nor ALL_PROXY reach nothing");
  }
  move_temp_into_workspace(input, plan);
  cover(input.policy, plan.coverage);
  lower_posix_limits(input.policy, input.facts, plan);
  return {};
}

std::string seatbelt_with_relay_port(std::string profile, std::uint16_t port) {
  // Unlike any part of a quoted path: there every quote has a backslash before it.
  const auto open = sbpl_text(relay_filter(relay_port_word));
  const auto filled = sbpl_text(relay_filter(std::to_string(port)));
  for (auto at = profile.find(open); at != std::string::npos; at = profile.find(open, at + filled.size()))
    profile.replace(at, open.size(), filled);
  return profile;
}

}  // namespace harn::plan

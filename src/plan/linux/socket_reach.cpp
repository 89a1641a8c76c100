// SPDX-License-Identifier: Apache-2.0
#include "plan/linux/socket_reach.h"

#include <algorithm>

#include "plan/linux/linux_coverage.h"

namespace harn::plan {
namespace {

// Landlock since these ABIs: abstract sockets of other domains, pathname sockets by rule.
constexpr int abi_abstract_scope = 6;
constexpr int abi_resolve_unix = 9;

// Where services of a host listen: granting one of these, or anything above it, shows their sockets.
std::vector<AbsPath> exposed_places(const PlanInput& input) {
  std::vector<AbsPath> places;
  for (const auto* text : {"/run", "/var/run", "/tmp"}) places.push_back(AbsPath::of(text));
  if (!input.facts.home.is_root()) places.push_back(input.facts.home);
  std::erase_if(places, [&](const AbsPath& place) { return input.rules.access(place) == Access::none; });
  const auto run = AbsPath::of("/run");
  const auto var_run = AbsPath::of("/var/run");
  for (const auto& rule : input.rules.rules())
    if (rule.access != Access::none && (run.contains(rule.path) || var_run.contains(rule.path))) places.push_back(rule.path);
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

bool is_named_root(Origin origin) {
  return origin == Origin::workspace || origin == Origin::read_only || origin == Origin::process_read || origin == Origin::process_write;
}

std::vector<AbsPath> granted_roots(const PathRules& rules) {
  std::vector<AbsPath> roots;
  for (const auto& rule : rules.rules()) {
    const bool granted = rule.access != Access::none && rule.kind == PathKind::directory && is_named_root(rule.origin);
    if (granted && (roots.empty() || !roots.back().contains(rule.path))) roots.push_back(rule.path);
  }
  return roots;
}

// Without a view and before Landlock knows named sockets, the supervisor connects on behalf. It is there where something may be
// changed anyway; a socket the policy names is worth one of its own.
bool supervisable(const PlanInput& input, bool asked) {
  const auto& linux = input.facts.linux;
  const bool listens = linux.seccomp && linux.seccomp_notify && linux.pidfd_getfd && linux.landlock_abi >= 1;
  return listens && !linux.user_namespaces && linux.landlock_abi < abi_resolve_unix &&
         (asked || input.explain || somewhere_writable(input.rules));
}

// A datagram socket sends to any name with each message, so every message has to be asked about, those of other sockets included.
// That is worth it only where the policy names a socket that takes datagrams.
SocketReach supervised_reach(const PlanInput& input) {
  const auto takes_datagrams = [&](const UnixSocket& socket) {
    const auto fact = input.facts.paths.find(socket.path.text());
    return fact != input.facts.paths.end() && fact->second.datagram;
  };
  SocketReach out{.full = true, .supervised = true};
  out.no_datagrams = !std::ranges::any_of(entries(input.policy.process_sandbox.unix_sockets), takes_datagrams);
  if (out.no_datagrams)
    out.note = "Unix datagram sockets are refused: no socket of the policy takes datagrams, and others cannot be kept away";
  return out;
}

}  // namespace

SocketReach socket_reach(const PlanInput& input, NetworkReach reach, bool supervised_network) {
  const auto& linux = input.facts.linux;
  const bool asked = !entries(input.policy.process_sandbox.unix_sockets).empty();
  const bool own_network_possible = linux.user_namespaces && linux.network_namespaces;
  const bool by_rule = linux.landlock_abi >= abi_resolve_unix;
  // Whoever connects for the command does so for every family of sockets.
  if (supervised_network || supervisable(input, asked)) return supervised_reach(input);

  SocketReach out;
  if (!by_rule) out.exposed = exposed_places(input);
  out.private_network = linux.landlock_abi < abi_abstract_scope && own_network_possible && reach != NetworkReach::unrestricted;
  out.abstract_open = linux.landlock_abi < abi_abstract_scope && !out.private_network;

  const bool limited = linux.user_namespaces || by_rule;
  const bool kept_apart = limited && out.exposed.empty() && !out.abstract_open;
  // A socket the policy names is worth an open gap that is reported; nothing else is.
  out.full = !linux.seccomp || kept_apart || (limited && asked);
  if (out.full) {
    if (!limited) out.exposed = {AbsPath()};
    if (!by_rule && out.exposed.empty()) out.granted = granted_roots(input.rules);
    return out;
  }
  SocketReach pairs;
  pairs.note = asked ? "the Unix sockets of the policy cannot be offered on this host: only connected pairs are allowed"
                     : "Unix sockets are limited to connected pairs: nothing here keeps sockets of the host away";
  return pairs;
}

}  // namespace harn::plan

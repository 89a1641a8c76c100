// SPDX-License-Identifier: Apache-2.0
#include "plan/wrappers/wrapper_coverage.h"

#include <algorithm>

#include "base/text.h"
#include "plan/coverage.h"
#include "plan/environment.h"
#include "plan/linux/linux_coverage.h"
#include "plan/linux/network_reach.h"
#include "plan/linux/view.h"

namespace harn::plan {
namespace {

constexpr auto hole = Enforcement::not_enforced;
constexpr auto weaker = Enforcement::degraded;
constexpr auto want_native = "use the linux backend";

}  // namespace

NetworkReach wrapped_reach(const Policy& policy) {
  const auto reach = network_reach(policy);
  if (reach != NetworkReach::restricted) return reach;
  return policy.effective_network().loopback ? NetworkReach::loopback : NetworkReach::none;
}

std::string program(const HostFacts& facts, const std::string& tool, const std::string& name) {
  const auto it = facts.tools.find(tool);
  return it == facts.tools.end() || it->second.path.is_root() ? name : it->second.path.text();
}

SocketReach wrapped_sockets(const PlanInput& input, bool shares_network) {
  HostFacts facts;
  facts.home = input.facts.home;
  facts.linux = {.seccomp = true, .user_namespaces = true, .network_namespaces = true};
  const PlanInput without_landlock{.policy = input.policy, .command = input.command, .facts = facts, .rules = input.rules};
  return socket_reach(without_landlock, shares_network ? NetworkReach::unrestricted : NetworkReach::none);
}

Result<SyscallFilter> wrapped_syscalls(const PlanInput& input, const SocketReach& sockets) {
  return plan_syscalls({.arch = input.facts.linux.arch,
                        .network = wrapped_reach(input.policy),
                        .private_network = wrapped_reach(input.policy) != NetworkReach::unrestricted,
                        .unix_full = sockets.full,
                        .unix_datagrams = sockets.full,
                        .private_ipc = true,
                        .private_pids = true,
                        .metadata = somewhere_writable(input.rules) || wants_temp(input.policy),
                        .truncation_checked = true,
                        .root = input.facts.uid == 0});
}

void place_wrapped_temp(const PlanInput& input, Plan& plan) {
  const auto tmp = AbsPath::of("/tmp");
  if (wants_temp(input.policy) && input.rules.access(tmp) != Access::read) point_temp_at(input.policy, tmp.text(), plan);
}

void cover_separation(const std::string& layer, Coverage& coverage) {
  for (const auto dimension : {Dimension::reads, Dimension::writes, Dimension::credential_reads, Dimension::metadata, Dimension::signals,
                               Dimension::process_inspection, Dimension::devices})
    enforced_by(coverage, dimension, layer);
}

void cover_network(const Policy& policy, const std::string& layer, Coverage& coverage) {
  const auto reach = network_reach(policy);
  if (reach != NetworkReach::unrestricted) enforced_by(coverage, Dimension::network, layer);
  if (reach == NetworkReach::restricted)
    open_gap(coverage,
             {.dimension = Dimension::network,
              .code = "per_host_network",
              .detail = "this backend cannot open single hosts, so the whole network stays closed",
              .remedy = want_native},
             hole);
  if (reach == NetworkReach::unrestricted && !policy.effective_network().blocked_ports.empty())
    open_gap(coverage,
             {.dimension = Dimension::network,
              .code = "blocked_ports",
              .detail = "nothing can refuse single ports while the rest of the network is open",
              .remedy = "name the allowed hosts instead"},
             hole);
}

void cover_sockets(const SocketReach& sockets, const std::string& layer, Plan& plan) {
  const auto dimension = Dimension::unix_sockets;
  enforced_by(plan.coverage, dimension, sockets.full ? layer : "seccomp");
  if (!sockets.exposed.empty())
    open_gap(plan.coverage,
             {.dimension = dimension,
              .code = "named_unix_sockets",
              .paths = sockets.exposed,
              .detail = "services that listen beneath a granted path can be reached",
              .remedy = "do not grant the places where services listen"},
             hole);
  if (!sockets.granted.empty())
    open_gap(plan.coverage,
             {.dimension = dimension,
              .code = "named_unix_sockets",
              .paths = sockets.granted,
              .detail = "a server outside that listens inside a granted root can be reached",
              .remedy = want_native},
             weaker);
  if (sockets.full && sockets.abstract_open)
    open_gap(plan.coverage,
             {.dimension = dimension,
              .code = "abstract_unix_sockets",
              .detail = "abstract sockets of the host can be reached",
              .remedy = want_native},
             hole);
  if (!sockets.note.empty()) plan.notes.push_back(sockets.note);
}

Access mounted_access(const PathRules& rules, const PathRule& rule) {
  return rule.access == Access::write && !rules.writes_allowed() ? Access::read : rule.access;
}

void cover_links(std::vector<AbsPath> links, Coverage& coverage) {
  if (links.empty()) return;
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  open_gap(coverage,
           {.dimension = Dimension::writes,
            .code = "protected_link",
            .paths = std::move(links),
            .detail = "a link at or above a closed name can be replaced",
            .remedy = "replace the link by a directory or file"},
           weaker);
}

bool is_named(Origin origin) {
  return origin == Origin::workspace || origin == Origin::read_only || origin == Origin::process_read || origin == Origin::process_write;
}

Error behind_link(const AbsPath& path, const AbsPath& link) {
  return cannot_express(
      base::quoted(path.text()) + " is reached through the link " + base::quoted(link.text()) + ", which this backend would follow",
      "name the path the link leads to");
}

Error cannot_express(std::string message, std::string hint) {
  return {.code = ErrorCode::not_supported, .stage = Stage::plan, .message = std::move(message), .hint = std::move(hint)};
}

}  // namespace harn::plan

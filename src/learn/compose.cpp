// SPDX-License-Identifier: Apache-2.0
#include "learn/compose.h"

#include <algorithm>

#include "plan/linux/dangerous_sockets.h"
#include "policy/presets.h"

namespace harn::learn {
namespace {

void add(std::optional<std::vector<AbsPath>>& list, const AbsPath& path) {
  if (!list) list.emplace();
  if (std::ranges::find(*list, path) == list->end()) list->push_back(path);
}

// Where package managers and toolchains keep versions of things, each by itself; and whatever is outside the home.
std::vector<AbsPath> version_places(const HostFacts& facts, const Grants& grants) {
  std::vector<AbsPath> out;
  for (const auto& row : policy::preset_rows())
    if (row.in_home && (row.preset == Preset::developer_toolchains || row.preset == Preset::package_manager_config))
      out.push_back(facts.home.join(row.path));
  const auto cache = facts.home.join(".cache");
  for (const auto& [path, access] : grants)
    if (cache.contains(path) && path != cache) {
      const auto below = cache.below(path);
      out.push_back(cache.join(below.substr(0, below.find('/'))));
    }
  for (const auto* place : {"/opt", "/srv", "/var/lib", "/var/cache", "/sys/fs/cgroup"}) out.push_back(AbsPath::of(place));
  return out;
}

Grants exact_grants(const Composing& composing, const Needs& needs) {
  Grants out;
  for (const auto& [seen, need] : needs.paths()) {
    const auto there = needs.still_there(seen, need.access);
    if (!there) continue;
    const auto& path = *there;
    const bool readable = composing.project.contains(path) && need.access == Access::read;
    const auto op = need.access == Access::write ? FileOp::write : FileOp::read;
    const bool granted = composing.base_rules != nullptr && composing.base_rules->decide(path, op).allowed;
    if (!readable && !granted) out[path] = std::max(out[path], need.access);
  }
  return out;
}

void add_network(const Needs& needs, bool watching, Policy& policy) {
  if (!needs.network() && needs.hosts().empty()) return;
  if (!policy.network) policy.network.emplace();
  auto& network = *policy.network;
  if (network.mode == NetworkMode::unrestricted) return;
  network.loopback = true;
  // A rule without a port opens several, and is only for a name nobody knows more about.
  std::set<HostRule> rules;
  for (const auto& host : needs.hosts()) {
    const auto same = [&](const auto& one) { return one.first == host.host; };
    for (const auto& [name, port] : needs.contacts())
      if (name == host.host) rules.insert({.host = name, .port = port});
    const bool known = std::ranges::any_of(needs.contacts(), same) ||
                       std::ranges::any_of(needs.hosts(), [&](const HostRule& one) { return one.host == host.host && one.port; });
    if (host.port || !known) rules.insert(host);
  }
  network.allowed_hosts.insert(network.allowed_hosts.end(), rules.begin(), rules.end());
  if (watching) network.allowed_hosts.push_back({.host = std::string(nobody)});
  if (!network.allowed_hosts.empty()) policy.side_effect_level = SideEffectLevel::network;
}

void add_yeses(const Needs& needs, Policy& policy) {
  auto& process = policy.process_sandbox;
  for (const auto& path : needs.credentials()) add(process.credentials, path);
  for (const auto& path : needs.unprotected()) add(policy.unprotect, path);
  for (const auto& path : needs.sockets()) {
    if (!process.unix_sockets) process.unix_sockets.emplace();
    const UnixSocket socket{.path = path, .allow_dangerous = !plan::danger_of(path).empty()};
    if (std::ranges::find(*process.unix_sockets, socket) == process.unix_sockets->end()) process.unix_sockets->push_back(socket);
  }
}

void add_grants(const Composing& composing, const Grants& grants, Policy& policy) {
  for (const auto& [path, access] : grants) {
    const bool inside = composing.project.contains(path);
    if (access == Access::write) add(inside ? policy.workspace_roots : policy.process_sandbox.write_roots, path);
    else add(inside ? policy.read_only_roots : policy.process_sandbox.read_roots, path);
  }
}

}  // namespace

Policy watching_policy(const Composing& composing, const Needs& needs) {
  Policy policy = composing.base.value_or(Policy{});
  policy.process_sandbox.presets.reset();
  policy.process_sandbox.package_tokens = false;
  add(policy.workspace_roots, composing.project);
  // The whole project is open meanwhile: names inside it that change with every run (objects of git) are nothing new.
  auto grants = exact_grants(composing, needs);
  std::erase_if(grants, [&](const auto& grant) { return composing.project.contains(grant.first); });
  add_grants(composing, grants, policy);
  add_yeses(needs, policy);
  add_network(needs, /*watching=*/true, policy);
  return canonical(std::move(policy));
}

Policy least_policy(const Composing& composing, const Needs& needs) {
  Policy policy = composing.base.value_or(Policy{});
  if (!policy.workspace_roots) policy.workspace_roots.emplace();
  const auto exact = exact_grants(composing, needs);
  add_grants(composing,
             generalise(exact, {.is_too_wide = [&](const AbsPath& path) { return needs.is_too_wide(path); },
                                .version_places = version_places(composing.facts, exact)}),
             policy);
  const auto& writable = *policy.workspace_roots;
  if (std::ranges::find(writable, composing.project) == writable.end()) add(policy.read_only_roots, composing.project);
  auto& process = policy.process_sandbox;
  if (!composing.base || process.presets) {
    if (!process.presets) process.presets.emplace();
    if (!composing.base) process.package_tokens = false;
    if (needs.system()) process.presets->insert(Preset::system_runtime);
    if (needs.temp()) process.presets->insert(Preset::user_temp);
  }
  add_yeses(needs, policy);
  add_network(needs, /*watching=*/false, policy);
  return canonical(std::move(policy));
}

}  // namespace harn::learn

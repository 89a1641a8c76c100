// SPDX-License-Identifier: Apache-2.0
#include "learn/unused.h"

#include <algorithm>

#include "policy/hosts.h"
#include "policy/names.h"
#include "policy/presets.h"

namespace harn::learn {
namespace {

struct PathList {
  std::string_view member = {};
  std::optional<std::vector<AbsPath>>* list = nullptr;
};

std::vector<PathList> lists_of(Policy& policy) {
  return {{"workspace_roots", &policy.workspace_roots},
          {"read_only_roots", &policy.read_only_roots},
          {"process_sandbox.read_roots", &policy.process_sandbox.read_roots},
          {"process_sandbox.write_roots", &policy.process_sandbox.write_roots},
          {"process_sandbox.credentials", &policy.process_sandbox.credentials}};
}

bool preset_used(Preset preset, const HostFacts& facts, const Needs& needs) {
  if (preset == Preset::user_temp) return needs.temp();
  if (preset == Preset::system_runtime) return needs.system();
  for (const auto& row : policy::preset_rows()) {
    if (row.preset != preset || (row.platform && row.platform != Platform::linux)) continue;
    const auto place = row.in_home ? facts.home.join(row.path) : AbsPath::of(row.path);
    const auto first = needs.touched().lower_bound(place);
    if (first != needs.touched().end() && place.contains(*first)) return true;
  }
  return false;
}

bool host_used(const HostRule& rule, const Needs& needs) {
  return std::ranges::any_of(needs.contacts(), [&](const auto& contact) { return policy::admits({rule}, contact.first, contact.second); });
}

}  // namespace

std::vector<UnusedGrant> unused_grants(const Policy& policy, const HostFacts& facts, const Needs& needs, const RealPath& real) {
  std::vector<UnusedGrant> out;
  auto copy = policy;
  for (const auto& [member, list] : lists_of(copy))
    for (const auto& path : entries(*list))
      if (path != facts.project_root && !needs.rules_used().contains(real(path))) out.push_back({std::string(member), path.text()});
  for (const auto preset : entries(policy.process_sandbox.presets))
    if (!preset_used(preset, facts, needs)) out.push_back({"process_sandbox.presets", std::string(base::enum_name(preset))});
  if (policy.network)
    for (const auto& rule : policy.network->allowed_hosts)
      if (!host_used(rule, needs)) out.push_back({"network.allowed_hosts", policy::text_of(rule)});
  return out;
}

Policy without_unused(Policy policy, const std::vector<UnusedGrant>& unused) {
  const auto is_unused = [&](std::string_view member, const std::string& value) {
    return std::ranges::find(unused, UnusedGrant{std::string(member), value}) != unused.end();
  };
  for (const auto& [member, list] : lists_of(policy))
    if (*list) std::erase_if(**list, [&](const AbsPath& path) { return is_unused(member, path.text()); });
  if (auto& presets = policy.process_sandbox.presets)
    std::erase_if(*presets, [&](Preset preset) { return is_unused("process_sandbox.presets", std::string(base::enum_name(preset))); });
  if (policy.network)
    std::erase_if(policy.network->allowed_hosts,
                  [&](const HostRule& rule) { return is_unused("network.allowed_hosts", policy::text_of(rule)); });
  return policy;
}

}  // namespace harn::learn

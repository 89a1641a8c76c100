// SPDX-License-Identifier: Apache-2.0
#include "policy/presets.h"

#include "harn_path_assets.h"
#include "policy/names.h"

namespace harn::policy {
namespace {

AbsPath place(bool in_home, std::string_view path, const AbsPath& home) { return in_home ? home.join(path) : AbsPath::of(path); }

}  // namespace

std::vector<ProtectedName> protected_names() {
  std::vector<ProtectedName> names;
  for (const auto& row : assets::protected_names) names.push_back({row.name, row.needs});
  return names;
}

bool is_protected_below(std::string_view rest) {
  for (const auto& row : assets::protected_names)
    if (rest.starts_with(row.name) && (rest.size() == row.name.size() || rest[row.name.size()] == '/')) return true;
  return false;
}

std::vector<AbsPath> preset_paths(const std::set<Preset>& presets, const HostFacts& facts) {
  const auto platform = base::enum_name(facts.platform);
  std::vector<AbsPath> paths;
  for (const auto& row : assets::preset_paths) {
    if (row.platform != "any" && row.platform != platform) continue;
    if (!presets.contains(*base::enum_value<Preset>(row.preset))) continue;
    paths.push_back(place(row.in_home, row.path, facts.home));
  }
  return paths;
}

std::vector<Credential> credential_paths(const HostFacts& facts) {
  std::vector<Credential> paths;
  for (const auto& row : assets::credential_paths) {
    paths.push_back({place(row.in_home, row.path, facts.home), row.package_token});
    if (row.in_home && facts.account_home) paths.push_back({facts.account_home->join(row.path), row.package_token});
  }
  return paths;
}

std::vector<DeviceGrant> device_grants(Platform platform) {
  const auto name = base::enum_name(platform);
  std::vector<DeviceGrant> grants;
  for (const auto& row : assets::device_paths)
    if (row.platform == name) grants.push_back({AbsPath::of(row.path), row.write ? Access::write : Access::read});
  return grants;
}

}  // namespace harn::policy

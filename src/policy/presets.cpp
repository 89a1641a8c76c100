// SPDX-License-Identifier: Apache-2.0
// The tables are converted at compile time, so that asking for one costs nothing.
#include "policy/presets.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/path_order.h"
#include "harn_path_assets.h"
#include "policy/names.h"

namespace harn::policy {
namespace {

constexpr auto name_rows = [] {
  std::array<ProtectedName, std::size(assets::protected_names)> rows = {};
  std::ranges::transform(assets::protected_names, rows.begin(), [](const auto& row) { return ProtectedName{row.name, row.needs}; });
  return rows;
}();

constexpr auto credential_rows = [] {
  std::array<CredentialRow, std::size(assets::home_credentials)> rows = {};
  std::ranges::transform(assets::home_credentials, rows.begin(),
                         [](const auto& row) { return CredentialRow{row.path, row.package_token}; });
  return rows;
}();

constexpr auto rows_of_presets = [] {
  std::array<PresetRow, std::size(assets::preset_paths)> rows = {};
  std::ranges::transform(assets::preset_paths, rows.begin(), [](const auto& row) {
    return PresetRow{.preset = *base::enum_value<Preset>(row.preset),
                     .platform = row.platform == "any" ? std::nullopt : base::enum_value<Platform>(row.platform),
                     .in_home = row.in_home,
                     .path = row.path};
  });
  return rows;
}();

constexpr bool precedes(std::string_view a, std::string_view b) { return base::path_order(a, b) < 0; }

// Strictly sorted, and with none beneath its predecessor: so none beneath any other.
static_assert(std::ranges::adjacent_find(name_rows, [](const auto& a, const auto& b) {
                return !precedes(a.name, b.name) || base::path_contains(a.name, b.name);
              }) == name_rows.end());
static_assert(std::ranges::adjacent_find(credential_rows, [](const auto& a, const auto& b) { return !precedes(a.path, b.path); }) ==
              credential_rows.end());

}  // namespace

std::span<const ProtectedName> protected_names() { return name_rows; }

bool is_protected_below(std::string_view rest) {
  const auto after = std::ranges::upper_bound(name_rows, rest, precedes, &ProtectedName::name);
  return after != name_rows.begin() && base::path_contains(std::prev(after)->name, rest);
}

std::span<const PresetRow> preset_rows() { return rows_of_presets; }

std::span<const CredentialRow> home_credentials() { return credential_rows; }

std::vector<Credential> system_credentials() {
  std::vector<Credential> paths;
  paths.reserve(std::size(assets::system_credentials));
  for (const auto& row : assets::system_credentials) paths.push_back({AbsPath::of(row.path), row.package_token});
  return paths;
}

std::vector<Credential> credential_paths(const HostFacts& facts) {
  std::vector<Credential> paths = system_credentials();
  for (const auto& row : credential_rows) {
    paths.push_back({facts.home.join(row.path), row.package_token});
    if (facts.account_home) paths.push_back({facts.account_home->join(row.path), row.package_token});
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

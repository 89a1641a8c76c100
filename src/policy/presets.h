// SPDX-License-Identifier: Apache-2.0
// The embedded tables (assets/presets) as paths on one host.
#pragma once

#include <string_view>
#include <vector>

#include "harn/policy.h"

namespace harn::policy {

// Names that stay read-only directly inside a writable root.
struct ProtectedName {
  std::string_view name;
  std::string_view needs;  // only where this name exists in the root; empty = always
};
std::vector<ProtectedName> protected_names();

// True when `rest` (a path relative to a writable root) is a protected name or lies beneath one.
bool is_protected_below(std::string_view rest);

// Every path the presets open for reading on this platform; existing or not.
std::vector<AbsPath> preset_paths(const std::set<Preset>& presets, const HostFacts& facts);

struct Credential {
  AbsPath path = {};
  bool package_token = false;
};
// Under HOME and, where the account has another home, there too.
std::vector<Credential> credential_paths(const HostFacts& facts);

struct DeviceGrant {
  AbsPath path = {};
  Access access = Access::read;
};
std::vector<DeviceGrant> device_grants(Platform platform);

}  // namespace harn::policy

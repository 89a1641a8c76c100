// SPDX-License-Identifier: Apache-2.0
// The embedded tables (assets/presets), as rows and as paths on one host.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harn/policy.h"

namespace harn::policy {

// Names that stay read-only directly inside a writable root. Sorted component-wise; none lies beneath
// another.
struct ProtectedName {
  std::string_view name;
  std::string_view needs;  // only where this name exists in the root; empty = always
};
std::span<const ProtectedName> protected_names();

// True when `rest` (a path relative to a writable root) is a protected name or lies beneath one.
bool is_protected_below(std::string_view rest);

// A path one preset opens for reading, whether it exists or not.
struct PresetRow {
  Preset preset = Preset::system_runtime;
  std::optional<Platform> platform = {};  // unset = on every platform
  bool in_home = false;
  std::string_view path = {};  // relative to the home directory, or absolute
};
std::span<const PresetRow> preset_rows();

struct CredentialRow {
  std::string_view path = {};  // relative to a home directory
  bool package_token = false;
};
// What is secret in a home directory. Sorted component-wise.
std::span<const CredentialRow> home_credentials();

struct Credential {
  AbsPath path = {};
  bool package_token = false;
};
std::vector<Credential> system_credentials();

// All of them: under HOME and, where the account has another home, there too.
std::vector<Credential> credential_paths(const HostFacts& facts);

struct DeviceGrant {
  AbsPath path = {};
  Access access = Access::read;
};
std::vector<DeviceGrant> device_grants(Platform platform);

}  // namespace harn::policy

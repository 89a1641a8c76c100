// SPDX-License-Identifier: Apache-2.0
#include "embed/places.h"

#include <optional>

#include "harn/probe.h"
#include "harn/prove.h"

namespace harn::embed {
namespace {

std::optional<AbsPath> path_variable(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  if (found == environment.end()) return std::nullopt;
  auto path = AbsPath::parse(found->second);
  if (!path) return std::nullopt;
  return std::move(*path);
}

// XDG: a relative or unset variable means the default beneath the home directory.
AbsPath base_directory(const Environment& environment, const std::string& variable, std::string_view otherwise) {
  if (auto named = path_variable(environment, variable)) return std::move(*named);
  return home_of(environment).join(otherwise);
}

}  // namespace

AbsPath home_of(const Environment& environment) { return home_directory(environment).value_or(AbsPath::of("/nonexistent")); }
AbsPath user_config_file(const Environment& environment) {
  return base_directory(environment, "XDG_CONFIG_HOME", ".config").join("harn/config.toml");
}
AbsPath state_directory(const Environment& environment) {
  return base_directory(environment, "XDG_STATE_HOME", ".local/state").join("harn");
}
AbsPath facts_directory(const Environment& environment) {
  return harn::facts_directory(path_variable(environment, "XDG_RUNTIME_DIR"), state_directory(environment));
}
AbsPath trust_file(const Environment& environment) { return state_directory(environment).join("trusted"); }
AbsPath audit_directory(const Environment& environment) { return state_directory(environment).join("audit"); }
AbsPath ceiling_file() { return AbsPath::of("/etc/harn/ceiling.toml"); }

}  // namespace harn::embed

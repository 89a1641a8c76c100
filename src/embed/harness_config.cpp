// SPDX-License-Identifier: Apache-2.0
// Finding and reading .harness/config.toml.
#include "embed/harness_table.h"
#include "harn/policy_text.h"
#include "host/user_files.h"
#include "policy/dialects.h"
#include "policy/read_policy.h"
#include "sys/files.h"

namespace harn::harness {
namespace {

// Relative paths mean the project, wherever the program stands.
void anchor_paths(std::optional<std::vector<std::string>>& paths, const AbsPath& project) {
  if (!paths) return;
  for (auto& path : *paths)
    if (!looks_absolute(path) && path != "~" && !path.starts_with("~/")) path = project.join(path).text();
}

}  // namespace

Result<SandboxConfig> parse_config(std::string_view toml, const AbsPath& file, const AbsPath& home) {
  HARN_TRY(root, policy::parse_toml_value(toml, {.home = home, .file_name = file.text()}));
  const auto project = file.parent().parent();
  HARN_OK(policy::import_harness(root, {.home = home, .project_root = project, .file_name = file.text()}));
  auto config = config_of(*root.find("sandbox"));
  config.file = file;
  anchor_paths(config.policy.allowed_paths, project);
  return config;
}

std::optional<AbsPath> find_config_file(const AbsPath& start) {
  for (auto at = start;; at = at.parent()) {
    auto file = at.join(".harness/config.toml");
    // Who made the directory owns what is in it; in a shared place that may be anybody.
    if (sys::is_entitled_file(file) && sys::is_entitled(file.parent())) return file;
    if (at.is_root()) return std::nullopt;
  }
}

Result<std::optional<SandboxConfig>> find_config(const AbsPath& start, const AbsPath& home) {
  const auto file = find_config_file(start);
  if (!file) return std::optional<SandboxConfig>();
  HARN_TRY(text, host::read_user_file(*file, max_policy_bytes));
  HARN_TRY(root, policy::parse_toml_value(text, {.home = home, .file_name = file->text()}));
  // Harness keeps other settings in the same file.
  if (root.find("sandbox") == nullptr) return std::optional<SandboxConfig>();
  HARN_TRY(config, parse_config(text, *file, home));
  return std::optional<SandboxConfig>(std::move(config));
}

}  // namespace harn::harness

// SPDX-License-Identifier: Apache-2.0
#include "cli/harness_file.h"

#include "harn/dialect.h"
#include "harn/executor.h"
#include "policy/read_policy.h"

namespace harn::cli {
namespace {

Result<Imported> imported(const SourceText& source, const AbsPath& home) {
  return import_dialect(Dialect::harness, source.text,
                        {.home = home, .project_root = source.path.parent().parent(), .file_name = source.name});
}

HarnessFile as_project(SourceText source, Imported imported, const std::string* mode) {
  HarnessFile out{.source = std::move(source), .policy = std::move(imported.policy), .image = std::move(imported.docker_image)};
  // The modes that confine say nothing about how strictly; the user's settings do.
  if (imported.backend != "none" || mode != nullptr) out.policy.sandbox_profile.reset();
  if (imported.backend == "docker" && mode == nullptr) out.backend = Backend::docker;
  return out;
}

}  // namespace

bool is_harness_file(const AbsPath& path) { return path.name() == "config.toml" && path.parent().name() == ".harness"; }

Result<HarnessFile> parse_harness_file(SourceText source, const AbsPath& home, const std::string* mode) {
  HARN_TRY(read, imported(source, home));
  return as_project(std::move(source), std::move(read), mode);
}

Result<std::optional<HarnessFile>> find_harness_file(const HostFacts& facts, const std::string* mode) {
  const auto file = harness::find_config_file(facts.cwd);
  if (!file) return std::optional<HarnessFile>();
  HARN_TRY(source, read_source_if_present(*file));
  if (!source) return std::optional<HarnessFile>();
  HARN_TRY(root, policy::parse_toml_value(source->text, {.home = facts.home, .file_name = source->name}));
  if (root.find("sandbox") == nullptr) return std::optional<HarnessFile>();
  HARN_TRY(read, imported(*source, facts.home));
  if (!read.enabled && mode == nullptr) return std::optional<HarnessFile>();
  return std::optional<HarnessFile>(as_project(std::move(*source), std::move(read), mode));
}

}  // namespace harn::cli

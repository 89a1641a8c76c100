// SPDX-License-Identifier: Apache-2.0
#include "cli/load.h"

#include "base/text.h"
#include "embed/places.h"
#include "harn/policy_text.h"
#include "host/user_files.h"

namespace harn::cli {

PathContext path_context(const Caller& caller) { return {.cwd = caller.cwd, .home = embed::home_of(caller.environment)}; }

AbsPath user_config_file(const Caller& caller) { return embed::user_config_file(caller.environment); }
AbsPath state_directory(const Caller& caller) { return embed::state_directory(caller.environment); }
AbsPath facts_directory(const Caller& caller) { return embed::facts_directory(caller.environment); }
AbsPath audit_directory(const Caller& caller) { return embed::audit_directory(caller.environment); }
AbsPath trust_file(const Caller& caller) { return embed::trust_file(caller.environment); }

Result<SourceText> read_source(std::string_view argument, const PathContext& context) {
  HARN_TRY(path, path_argument(argument, context));
  HARN_TRY(text, host::read_user_file(path, max_policy_bytes));
  return SourceText{.path = std::move(path), .name = std::string(argument), .text = std::move(text)};
}

Result<std::optional<SourceText>> read_source_if_present(const AbsPath& path) {
  HARN_TRY(text, host::read_user_file_if_present(path, max_policy_bytes));
  if (!text) return std::optional<SourceText>();
  return SourceText{.path = path, .name = path.text(), .text = std::move(*text)};
}

bool is_json(const SourceText& source) {
  if (source.path.name().ends_with(".json")) return true;
  return !source.path.name().ends_with(".toml") && base::trim(source.text).starts_with('{');
}

Result<Policy> parse_policy(const SourceText& source, const AbsPath& home) {
  const TextContext context{.home = home, .file_name = source.name};
  return is_json(source) ? parse_policy_json(source.text, context) : parse_policy_toml(source.text, context);
}

Result<UserConfig> parse_user_config(const SourceText& source, const AbsPath& home) {
  const TextContext context{.home = home, .file_name = source.name};
  return is_json(source) ? parse_user_config_json(source.text, context) : parse_user_config_toml(source.text, context);
}

std::vector<Error> policy_mistakes(const SourceText& source, const AbsPath& home) {
  const TextContext context{.home = home, .file_name = source.name};
  return is_json(source) ? policy_json_mistakes(source.text, context) : policy_toml_mistakes(source.text, context);
}

Result<Policy> load_policy(std::string_view argument, const PathContext& context) {
  HARN_TRY(source, read_source(argument, context));
  return parse_policy(source, context.home);
}

}  // namespace harn::cli

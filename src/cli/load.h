// SPDX-License-Identifier: Apache-2.0
// Where files stand and how their text becomes a policy. The only place of the command line that
// reads files.
#pragma once

#include <optional>

#include "cli/args.h"
#include "cli/flags.h"
#include "harn/policy_text.h"

namespace harn::cli {

// "~" and relative paths as this caller means them.
PathContext path_context(const Caller& caller);

AbsPath user_config_file(const Caller& caller);  // $XDG_CONFIG_HOME/harn/config.toml
AbsPath trust_file(const Caller& caller);        // $XDG_STATE_HOME/harn/trusted
AbsPath state_directory(const Caller& caller);   // $XDG_STATE_HOME/harn
AbsPath audit_directory(const Caller& caller);   // $XDG_STATE_HOME/harn/audit
AbsPath facts_directory(const Caller& caller);   // $XDG_RUNTIME_DIR/harn, or the state directory

struct SourceText {
  AbsPath path = {};
  std::string name = {};  // as the caller wrote it, for error places
  std::string text = {};
};

Result<SourceText> read_source(std::string_view argument, const PathContext& context);
// A file that may be missing; unreadable is still an error.
Result<std::optional<SourceText>> read_source_if_present(const AbsPath& path);

// JSON by name (".json") or by its first character, otherwise TOML.
bool is_json(const SourceText& source);
// Every mistake of a policy text; empty = it parses.
std::vector<Error> policy_mistakes(const SourceText& source, const AbsPath& home);

// The user's own file may say more than a policy.
Result<UserConfig> parse_user_config(const SourceText& source, const AbsPath& home);
Result<Policy> parse_policy(const SourceText& source, const AbsPath& home);
Result<Policy> load_policy(std::string_view argument, const PathContext& context);

}  // namespace harn::cli

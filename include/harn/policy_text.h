// SPDX-License-Identifier: Apache-2.0
// Policies as text: strict TOML and JSON in, both out, and the JSON Schema made from the same table
// as the reader. Unknown members, wrong types, bad values: errors that name the place, the offending
// text and the nearest valid name. No silent default.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harn/audit.h"
#include "harn/policy.h"

namespace harn {

// What the text may refer to: "~" and "$HOME" at the start of a path become `home`.
struct TextContext {
  AbsPath home = {};
  std::string file_name = {};  // for error places: "policy.toml:3:14"
};

inline constexpr std::size_t max_policy_bytes = 4u << 20;

Result<Policy> parse_policy_toml(std::string_view text, const TextContext& context);
Result<Policy> parse_policy_json(std::string_view text, const TextContext& context);

// A user's configuration: a policy, and beside its members the table [audit], which nobody else may have.
struct UserConfig {
  Policy policy = {};
  AuditSettings audit = {};
  std::string docker_image = {};  // [sandbox] docker_image; empty = not written

  bool operator==(const UserConfig&) const = default;
};
Result<UserConfig> parse_user_config_toml(std::string_view text, const TextContext& context);
Result<UserConfig> parse_user_config_json(std::string_view text, const TextContext& context);

// Every mistake of a text at once, for somebody who is correcting it; empty = it parses. A text that
// is no TOML or JSON at all has one.
std::vector<Error> policy_toml_mistakes(std::string_view text, const TextContext& context);
std::vector<Error> policy_json_mistakes(std::string_view text, const TextContext& context);

std::string policy_to_json(const Policy& policy, int indent = 2);  // as written: unset members absent
std::string policy_to_toml(const Policy& policy);
std::string canonical_policy_json(const Policy& policy);  // what digest() hashes

std::string policy_schema();  // JSON Schema 2020-12

}  // namespace harn

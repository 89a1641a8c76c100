// SPDX-License-Identifier: Apache-2.0
// A policy from JSON text.
#include "base/json.h"
#include "policy/read_policy.h"

namespace harn {

namespace {

Result<base::Value> parse_json_value(std::string_view text, const TextContext& context) {
  HARN_OK(policy::check_size(text, context));
  auto root = base::parse_json(text, context.file_name);
  if (!root) root.error().code = ErrorCode::invalid_policy;
  return root;
}

}  // namespace

Result<Policy> parse_policy_json(std::string_view text, const TextContext& context) {
  HARN_TRY(root, parse_json_value(text, context));
  return policy::read_policy(root, context, policy::TextFormat::json);
}

std::vector<Error> policy_json_mistakes(std::string_view text, const TextContext& context) {
  auto root = parse_json_value(text, context);
  if (!root) return {std::move(root).error()};
  return policy::policy_mistakes(*root, context, policy::TextFormat::json);
}

}  // namespace harn

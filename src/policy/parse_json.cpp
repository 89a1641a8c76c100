// SPDX-License-Identifier: Apache-2.0
// A policy from JSON text.
#include "base/json.h"
#include "policy/read_policy.h"

namespace harn {

Result<Policy> parse_policy_json(std::string_view text, const TextContext& context) {
  HARN_OK(policy::check_size(text, context));
  auto root = base::parse_json(text, context.file_name);
  if (!root) {
    Error error = std::move(root).error();
    error.code = ErrorCode::invalid_policy;
    return fail(std::move(error));
  }
  return policy::read_policy(*root, context, policy::TextFormat::json);
}

}  // namespace harn

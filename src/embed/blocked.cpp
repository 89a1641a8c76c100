// SPDX-License-Identifier: Apache-2.0
#include "embed/blocked.h"

#include "base/text.h"
#include "policy/blocked_commands.h"

namespace harn::embed {

Status check_not_blocked(const Policy& policy, const std::vector<std::string>& argv) {
  if (policy.blocked_commands.empty()) return {};
  std::vector<std::string> words;
  for (const auto& word : argv) words.push_back(base::shell_word(word));
  const auto blocked = policy::validate_command(policy.blocked_commands, base::join(words, " "));
  if (!blocked) return {};
  return fail(
      Error{.code = ErrorCode::refused, .stage = Stage::plan, .message = *blocked, .hint = "the policy's blocked_commands names it"});
}

}  // namespace harn::embed

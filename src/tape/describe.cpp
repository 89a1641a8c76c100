// SPDX-License-Identifier: Apache-2.0
// A run in the words in which it is recorded and compared: without secrets, so that a tape can be shown to somebody.
#include <algorithm>

#include "base/json.h"
#include "base/sha256.h"
#include "harn/audit.h"
#include "harn/policy_text.h"
#include "harn/tape.h"
#include "policy/env_rules.h"
#include "policy/member_table.h"
#include "policy/names.h"

namespace harn {
namespace {

constexpr std::string_view hidden = "redacted";
constexpr std::size_t value_digits = 16;

bool is_secret(const std::string& name) { return policy::always_stripped(name) || !policy::secret_pattern(name).empty(); }

std::string value_digest(const std::string& name, const std::string& value, const RunDescription& run) {
  if (is_secret(name)) return std::string(hidden);
  return base::sha256_hex(std::string(run.salt) + name + '=' + text_without_secrets(value, run.secrets)).substr(0, value_digits);
}

// A policy may set variables, and with them say a secret; and so may its paths.
void hide(base::Value& value, const std::vector<std::string>& secrets) {
  if (value.is(base::ValueKind::string)) value = base::Value(text_without_secrets(value.string(), secrets));
  if (value.is(base::ValueKind::array))
    for (auto& item : value.array()) hide(item, secrets);
  if (value.is(base::ValueKind::object))
    for (auto& member : value.object()) hide(member.value, secrets);
}

Policy without_secrets(Policy policy, const std::vector<std::string>& secrets) {
  for (auto& [name, value] : policy.env.set)
    if (is_secret(name)) value = hidden;
  auto value = policy::policy_value(policy);
  hide(value, secrets);
  auto read = parse_policy_json(base::print_json(value), {});
  // What makes no policy without its secrets is not kept at all.
  return read ? canonical(*read) : Policy{.sandbox_profile = policy.profile()};
}

AbsPath without_secrets(const AbsPath& path, const std::vector<std::string>& secrets) {
  return AbsPath::parse(text_without_secrets(path.text(), secrets)).value_or(AbsPath());
}

}  // namespace

RunRecord describe_run(const RunDescription& run) {
  RunRecord out{.argv = words_without_secrets(run.argv, run.secrets),
                .cwd = without_secrets(run.cwd, run.secrets),
                .profile = run.policy.profile(),
                .policy = without_secrets(canonical(run.policy), run.secrets)};
  out.policy_digest = digest(out.policy);
  const auto passed = policy::apply_env_rules(run.policy.env, run.environment);
  std::string all;
  for (const auto& [name, value] : passed.variables) {
    auto digest = value_digest(name, value, run);
    all += name + '=' + digest + '\n';
    out.env.emplace(name, std::move(digest));
  }
  out.env_digest = base::sha256_hex(all);
  out.redacted = out.argv != run.argv || out.cwd != run.cwd || out.policy_digest != digest(run.policy);
  return out;
}

}  // namespace harn

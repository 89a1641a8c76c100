// SPDX-License-Identifier: Apache-2.0
// A run in the words in which it is recorded and compared: without secrets, so that a tape can be shown to somebody.
#include <algorithm>

#include "base/sha256.h"
#include "harn/audit.h"
#include "harn/tape.h"
#include "policy/env_rules.h"

namespace harn {
namespace {

constexpr std::string_view hidden = "redacted";
constexpr std::size_t value_digits = 16;

bool is_secret(const std::string& name) { return policy::always_stripped(name) || !policy::secret_pattern(name).empty(); }

std::string value_digest(const std::string& name, const std::string& value, const std::vector<std::string>& secrets) {
  if (is_secret(name)) return std::string(hidden);
  return base::sha256_hex(name + '=' + text_without_secrets(value, secrets)).substr(0, value_digits);
}

// A policy may set variables, and with them say a secret.
Policy without_secrets(Policy policy, const std::vector<std::string>& secrets) {
  for (auto& [name, value] : policy.env.set) value = is_secret(name) ? std::string(hidden) : text_without_secrets(value, secrets);
  return policy;
}

}  // namespace

RunRecord describe_run(const RunDescription& run) {
  RunRecord out{.argv = words_without_secrets(run.argv, run.secrets),
                .cwd = run.cwd,
                .profile = run.policy.profile(),
                .policy = without_secrets(canonical(run.policy), run.secrets),
                .policy_digest = digest(run.policy)};
  const auto passed = policy::apply_env_rules(run.policy.env, run.environment);
  std::string all;
  for (const auto& [name, value] : passed.variables) {
    auto digest = value_digest(name, value, run.secrets);
    all += name + '=' + digest + '\n';
    out.env.emplace(name, std::move(digest));
  }
  out.env_digest = base::sha256_hex(all);
  out.redacted = out.argv != run.argv || out.policy.env.set != canonical(run.policy).env.set;
  return out;
}

}  // namespace harn

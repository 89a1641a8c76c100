// SPDX-License-Identifier: Apache-2.0
// Which environment variables reach a confined command, and why the others do not.
//
// inherit and patch start from the caller's variables, replace from those of them that passthrough
// names. Then, each beating the one before: `set`, `remove`, `strip`, the five names nothing lifts.
// A written `set` or `remove` is never ignored, whatever the mode. What the caller happens to carry
// is filtered by name; what the policy sets was written by the operator and passes the filter.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harn/policy.h"

namespace harn::policy {

struct EnvRemoved {
  std::string name = {};
  std::string why = {};

  auto operator<=>(const EnvRemoved&) const = default;
};

struct EnvOutcome {
  std::map<std::string, std::string> variables = {};
  std::vector<EnvRemoved> removed = {};  // sorted by name; names only, never values

  bool operator==(const EnvOutcome&) const = default;
};

EnvOutcome apply_env_rules(const EnvRules& rules, const std::map<std::string, std::string>& caller);

// The five names that nothing can pass through, in any letter case.
bool always_stripped(std::string_view name);

// The built-in pattern that withholds a name from the caller's environment; empty when none does.
std::string_view secret_pattern(std::string_view name);

}  // namespace harn::policy

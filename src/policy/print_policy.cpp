// SPDX-License-Identifier: Apache-2.0
// A policy as text. Both formats and the canonical form print the same tree.
#include "base/json.h"
#include "harn/policy_text.h"
#include "policy/member_table.h"
#include "policy/print_toml.h"

namespace harn {

std::string policy_to_json(const Policy& policy, int indent) { return base::print_json(policy::policy_value(policy), indent); }

std::string policy_to_toml(const Policy& policy) { return policy::print_toml(policy::policy_value(policy)); }

std::string canonical_policy_json(const Policy& policy) { return base::canonical_json(policy::policy_value(canonical(policy))); }

}  // namespace harn

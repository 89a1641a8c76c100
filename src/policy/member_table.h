// SPDX-License-Identifier: Apache-2.0
// The member table: every member a policy text may have, once. The reader, the printers, the schema and
// the "did you mean" suggestions all walk it, so none of them can know a member the others do not.
#pragma once

#include <span>
#include <string_view>

#include "base/value.h"
#include "harn/policy.h"
#include "policy/place.h"

namespace harn::policy {

struct MemberRow {
  std::string_view name = {};
  std::string_view description = {};
  std::string_view unset = {};  // what leaving it out means
  bool nullable = false;        // JSON null says "unset"

  // A leaf has these three…
  Status (*read)(const base::Value&, const Place&, Policy&) = nullptr;
  base::Value (*print)(const Policy&) = nullptr;  // null when there is nothing to say
  base::Value (*schema)() = nullptr;

  // …a table these. One that is optional in Policy is opened before its members are read, and is
  // printed, even when empty, exactly when it is present.
  std::span<const MemberRow> members = {};
  void (*open)(Policy&) = nullptr;
  bool (*present)(const Policy&) = nullptr;
};

std::span<const MemberRow> policy_members();

// One member of `limits`, read as from a text: one range and one wording, whoever asks.
Status read_limit(std::string_view name, const base::Value& value, Policy& policy);

// The policy as a tree, unset members absent.
base::Value policy_value(const Policy& policy);

}  // namespace harn::policy

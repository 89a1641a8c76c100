// SPDX-License-Identifier: Apache-2.0
// Which grants of a policy nothing needed while the command was watched.
#pragma once

#include <string>
#include <vector>

#include "learn/needs.h"

namespace harn::learn {

struct UnusedGrant {
  std::string member = {};  // "process_sandbox.read_roots"
  std::string value = {};

  bool operator==(const UnusedGrant&) const = default;
};

// `real` is where a path of the policy leads.
using RealPath = std::function<AbsPath(const AbsPath&)>;
std::vector<UnusedGrant> unused_grants(const Policy& policy, const HostFacts& facts, const Needs& needs, const RealPath& real);
// The policy without them.
Policy without_unused(Policy policy, const std::vector<UnusedGrant>& unused);

}  // namespace harn::learn

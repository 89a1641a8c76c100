// SPDX-License-Identifier: Apache-2.0
// HARN_EGRESS_*: what the operator's environment says about the network. Set wrongly is an error, never
// nothing: somebody believes in it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harn/policy.h"

namespace harn::policy {

struct EgressEnvironment {
  std::vector<HostRule> allow = {};  // HARN_EGRESS_ALLOW, separated by comma, semicolon or newline
  std::vector<HostRule> deny = {};   // HARN_EGRESS_DENY
  bool block_private = true;         // HARN_EGRESS_BLOCK_PRIVATE
  bool allow_loopback = false;       // HARN_EGRESS_ALLOW_LOOPBACK
  bool default_deny = false;         // HARN_EGRESS_DEFAULT=deny was said

  bool operator==(const EgressEnvironment&) const = default;
};

// HARN_EGRESS_RESOLVER: who is asked about names instead of the host's resolvers.
std::vector<std::string> egress_resolvers(const std::map<std::string, std::string>& variables);

Result<EgressEnvironment> parse_egress_environment(const std::map<std::string, std::string>& variables);

}  // namespace harn::policy

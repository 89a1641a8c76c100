// SPDX-License-Identifier: Apache-2.0
// The parsed host part of a rule. Everything that compares hosts compares this, never text.
#pragma once

#include <string>
#include <string_view>

#include "harn/result.h"
#include "policy/ip_address.h"

namespace harn::policy {

enum class HostKind : std::uint8_t {
  name,
  subdomains,
  block
};

struct HostPattern {
  HostKind kind = HostKind::name;
  std::string name = {};  // of `subdomains` without the "*."
  IpBlock block = {};

  bool operator==(const HostPattern&) const = default;
};

// One host without port: a name, *.suffix, an address or a CIDR block, IPv6 bare or in brackets.
Result<HostPattern> parse_host_pattern(std::string_view text);

// The canonical text, IPv6 bare.
std::string print_host(const HostPattern& pattern);

}  // namespace harn::policy

// SPDX-License-Identifier: Apache-2.0
// Addresses that are not the public internet's: loopback, private networks, cloud metadata, and the
// IPv6 forms that lead to IPv4 addresses. A name that resolves to one of them is the classic way
// around a list of hosts, so they are refused unless a rule names them.
#pragma once

#include <optional>
#include <string_view>

#include "policy/ip_address.h"

namespace harn::policy {

struct SpecialRange {
  IpBlock block = {};
  std::string_view what = {};  // "loopback", "a private network", …
  bool loopback = false;       // leads to the machine itself

  bool operator==(const SpecialRange&) const = default;
};

// The range a single address lies in; nothing for a public one. ::ffff:a.b.c.d counts as a.b.c.d, and
// 64:ff9b::a.b.c.d (NAT64) as what it leads to.
std::optional<SpecialRange> special_range(const IpBlock& address);

// Every address of `inner` is one of `outer`.
bool contains(const IpBlock& outer, const IpBlock& inner);

}  // namespace harn::policy

// SPDX-License-Identifier: Apache-2.0
// The addresses confined programs see: each admitted name gets one of its own in a range nobody else
// uses, and keeps it for the whole run, so an address always leads back to the one name it was given for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/egress_rules.h"
#include "policy/ip_address.h"

namespace harn::egress {

class NameTable {
 public:
  // Ranges no rule means literally.
  explicit NameTable(const policy::EgressRules& rules);

  struct Pair {
    policy::IpBlock v4 = {};
    policy::IpBlock v6 = {};
  };
  // Nothing when the range is used up.
  std::optional<Pair> addresses_of(std::string_view name);
  bool holds(std::string_view name) const { return numbers_.contains(name); }

  // Whether an address belongs to the range, and to which name; one nobody was given has none.
  bool is_ours(const policy::IpBlock& address) const;
  const std::string* name_of(const policy::IpBlock& address) const;

 private:
  policy::IpBlock v4_ = {};
  policy::IpBlock v6_ = {};
  std::map<std::string, std::uint32_t, std::less<>> numbers_ = {};
  std::vector<const std::string*> names_ = {};
};

}  // namespace harn::egress

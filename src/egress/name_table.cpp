// SPDX-License-Identifier: Apache-2.0
#include "egress/name_table.h"

namespace harn::egress {
namespace {

// Numbers below are the interface's own address and the resolver's.
constexpr std::uint32_t first_number = 256;
constexpr std::uint32_t most_names = 65536 - first_number;

policy::IpBlock range(std::string_view address, int length, bool v6) {
  auto block = v6 ? policy::parse_ipv6(address) : policy::parse_ipv4(address);
  block->length = length;
  return *block;
}

policy::IpBlock pick(const policy::EgressRules& rules, std::initializer_list<policy::IpBlock> candidates) {
  for (const auto& block : candidates)
    if (!rules.names_inside(block)) return block;
  return *candidates.begin();
}

policy::IpBlock numbered(const policy::IpBlock& range, std::uint32_t number) {
  auto address = range;
  address.length = address.full_length();
  const std::size_t last = range.v6 ? 15 : 3;
  for (std::size_t i = 0; i < (range.v6 ? 4u : 2u); ++i) address.bits[last - i] = static_cast<std::uint8_t>(number >> (8 * i));
  return address;
}

}  // namespace

NameTable::NameTable(const policy::EgressRules& rules)
    : v4_(pick(rules, {range("198.18.0.0", 16, false), range("198.19.0.0", 16, false)})),
      v6_(pick(rules, {range("fd68:6172:6e00::", 64, true), range("fd68:6172:6e01::", 64, true)})) {}

std::optional<NameTable::Pair> NameTable::addresses_of(std::string_view name) {
  auto found = numbers_.find(name);
  if (found == numbers_.end()) {
    if (names_.size() >= most_names) return std::nullopt;
    found = numbers_.emplace(std::string(name), first_number + static_cast<std::uint32_t>(names_.size())).first;
    names_.push_back(&found->first);
  }
  return Pair{numbered(v4_, found->second), numbered(v6_, found->second)};
}

bool NameTable::is_ours(const policy::IpBlock& address) const { return policy::contains(v4_, address) || policy::contains(v6_, address); }

const std::string* NameTable::name_of(const policy::IpBlock& address) const {
  if (!is_ours(address)) return nullptr;
  std::uint32_t number = 0;
  for (std::size_t i = address.v6 ? 12 : 2; i < (address.v6 ? 16u : 4u); ++i) number = number << 8 | address.bits[i];
  // Everything between the range and the number is zero in an address we gave away.
  if (number < first_number || number - first_number >= names_.size()) return nullptr;
  return numbered(address.v6 ? v6_ : v4_, number) == address ? names_[number - first_number] : nullptr;
}

}  // namespace harn::egress

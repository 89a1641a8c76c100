// SPDX-License-Identifier: Apache-2.0
// IP addresses as text and bits, without the operating system: inet_aton and friends accept
// spellings (0x7f.1, 017700000001) that let a checker and a resolver disagree about one host.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace harn::policy {

// An aligned block of addresses; a single address is a block of full length. Families never mix:
// an IPv4 destination is not part of any IPv6 block.
struct IpBlock {
  bool v6 = false;
  std::array<std::uint8_t, 16> bits = {};  // IPv4 uses the first four bytes
  int length = 0;                          // prefix length

  int full_length() const { return v6 ? 128 : 32; }
  bool operator==(const IpBlock&) const = default;
};

// Digits only, no sign, no leading zero, at most `max`.
std::optional<int> parse_decimal(std::string_view text, int max);

// Four decimal numbers 0..255 without leading zeros, nothing else.
std::optional<IpBlock> parse_ipv4(std::string_view text);

// What inet_aton would make of other numeric spellings ("127.1", "0x7f000001"), for hints only.
std::optional<IpBlock> guess_ipv4(std::string_view text);

// RFC 4291 text without zone; may end in dotted decimal. Not folded to IPv4.
std::optional<IpBlock> parse_ipv6(std::string_view text);

// ::ffff:a.b.c.d means the IPv4 address a.b.c.d, whoever spells it; everything else stays as it is.
IpBlock fold_mapped(const IpBlock& block);

// The block with every bit past its length cleared.
IpBlock masked(IpBlock block);

// RFC 5952 for IPv6; "/length" unless the block is a single address.
std::string print_ip(const IpBlock& block);

}  // namespace harn::policy

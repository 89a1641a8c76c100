// SPDX-License-Identifier: Apache-2.0
// From the special-purpose registries of IANA (RFC 6890 and what followed it).
#include "policy/special_addresses.h"

#include <algorithm>

namespace harn::policy {
namespace {

struct RangeV4 {
  std::array<std::uint8_t, 4> bytes = {};
  int length = 0;
  std::string_view what = {};
  bool loopback = false;
};

constexpr std::string_view is_private = "a private network";
constexpr std::string_view is_documentation = "an address for documentation";

constexpr RangeV4 ranges_v4[] = {
    {{0, 0, 0, 0}, 8, "this machine", true},  // Linux takes 0.0.0.0 for loopback
    {{10, 0, 0, 0}, 8, is_private},
    {{100, 64, 0, 0}, 10, "a provider's shared network"},
    {{127, 0, 0, 0}, 8, "loopback", true},
    {{169, 254, 0, 0}, 16, "link-local, where clouds keep their metadata"},
    {{172, 16, 0, 0}, 12, is_private},
    {{192, 0, 0, 0}, 24, "reserved for protocols"},
    {{192, 0, 2, 0}, 24, is_documentation},
    {{192, 88, 99, 0}, 24, "a 6to4 relay"},
    {{192, 168, 0, 0}, 16, is_private},
    {{198, 18, 0, 0}, 15, "an address for benchmarks"},
    {{198, 51, 100, 0}, 24, is_documentation},
    {{203, 0, 113, 0}, 24, is_documentation},
    {{224, 0, 0, 0}, 4, "multicast"},
    {{240, 0, 0, 0}, 4, "reserved"},
};

struct RangeV6 {
  std::array<std::uint16_t, 4> groups = {};  // the first four
  int length = 0;
  std::string_view what = {};
};

constexpr RangeV6 ranges_v6[] = {
    {{0x0064, 0xff9b, 0x0001}, 48, "a NAT64 prefix of a private network"},
    {{0x0100}, 64, "discarded by routers"},
    {{0x2001, 0x0db8}, 32, is_documentation},
    {{0x2001}, 23, "reserved for protocols"},  // Teredo, benchmarks, ORCHID
    {{0x2002}, 16, "6to4, which leads to an IPv4 address"},
    {{0x3fff}, 20, is_documentation},
    {{0xfc00}, 7, is_private},
    {{0xfe80}, 10, "link-local"},
    {{0xfec0}, 10, is_private},
    {{0xff00}, 8, "multicast"},
};

IpBlock block_of(const RangeV4& range) {
  IpBlock block{.v6 = false, .bits = {}, .length = range.length};
  std::ranges::copy(range.bytes, block.bits.begin());
  return block;
}

IpBlock block_of(const RangeV6& range) {
  IpBlock block{.v6 = true, .bits = {}, .length = range.length};
  for (std::size_t i = 0; i < range.groups.size(); ++i) {
    block.bits[2 * i] = static_cast<std::uint8_t>(range.groups[i] >> 8);
    block.bits[2 * i + 1] = static_cast<std::uint8_t>(range.groups[i] & 0xff);
  }
  return block;
}

IpBlock v6_block(std::uint8_t first, int length) {
  IpBlock block{.v6 = true, .bits = {}, .length = length};
  block.bits[0] = first;
  return block;
}

IpBlock last_four_bytes(const IpBlock& address) {
  IpBlock block{.v6 = false, .bits = {}, .length = 32};
  std::copy(address.bits.begin() + 12, address.bits.end(), block.bits.begin());
  return block;
}

std::optional<SpecialRange> special_v4(const IpBlock& address) {
  for (const auto& range : ranges_v4)
    if (const auto block = block_of(range); contains(block, address)) return SpecialRange{block, range.what, range.loopback};
  return std::nullopt;
}

// What is neither registered nor global unicast (2000::/3) belongs to nobody: v4-compatible addresses, SIIT, …
std::optional<SpecialRange> special_v6(const IpBlock& address) {
  IpBlock one = v6_block(0, 128);
  if (address == one) return SpecialRange{one, "this machine", true};
  one.bits[15] = 1;
  if (address == one) return SpecialRange{one, "loopback", true};
  IpBlock nat64 = v6_block(0, 96);
  nat64.bits[1] = 0x64;
  nat64.bits[2] = 0xff;
  nat64.bits[3] = 0x9b;
  if (contains(nat64, address)) {
    if (!special_v4(last_four_bytes(address))) return std::nullopt;
    return SpecialRange{nat64, "NAT64, which leads to an IPv4 address that is not public", false};
  }
  for (const auto& range : ranges_v6)
    if (const auto block = block_of(range); contains(block, address)) return SpecialRange{block, range.what, false};
  if (contains(v6_block(0x20, 3), address)) return std::nullopt;
  const auto reserved = masked(IpBlock{.v6 = true, .bits = address.bits, .length = 3});
  return SpecialRange{reserved, "reserved", false};
}

}  // namespace

bool contains(const IpBlock& outer, const IpBlock& inner) {
  if (outer.v6 != inner.v6 || outer.length > inner.length) return false;
  const auto whole = static_cast<std::size_t>(outer.length / 8);
  if (!std::equal(outer.bits.begin(), outer.bits.begin() + static_cast<long>(whole), inner.bits.begin())) return false;
  const int rest = outer.length % 8;
  return rest == 0 || (outer.bits[whole] ^ inner.bits[whole]) >> (8 - rest) == 0;
}

std::optional<SpecialRange> special_range(const IpBlock& address) {
  const auto plain = fold_mapped(address);
  return plain.v6 ? special_v6(plain) : special_v4(plain);
}

}  // namespace harn::policy

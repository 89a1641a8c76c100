// SPDX-License-Identifier: Apache-2.0
// Addresses and families of sockets, from the kernel's form to a person's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace harn::embed {

struct Address {
  std::string text = {};  // "192.0.2.1:80", "[2001:db8::1]:80", or the name of an abstract socket
  std::uint16_t port = 0;
  bool loopback = false;
  bool abstract = false;
};
// Nothing for a family that is no address of ours, or too few bytes.
std::optional<Address> parse_address(std::string_view bytes);

enum class Family : std::uint8_t {
  internet,
  local,
  other
};
struct FamilyText {
  Family kind = Family::other;
  std::string text = {};  // "AF_INET SOCK_STREAM"
};
FamilyText describe_family(std::uint64_t family, std::uint64_t type);

}  // namespace harn::embed

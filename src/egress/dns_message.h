// SPDX-License-Identifier: Apache-2.0
// DNS messages, as far as the relay needs them: questions of confined programs and the answers we make
// up, questions to a real resolver and its answers. Every byte read comes from somebody we do not trust.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/ip_address.h"

namespace harn::egress {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

inline constexpr std::uint16_t type_a = 1;
inline constexpr std::uint16_t type_aaaa = 28;

enum class DnsCode : std::uint8_t {
  ok = 0,
  malformed = 1,
  failed = 2,
  no_such_name = 3,
  not_implemented = 4,
  refused = 5
};

struct DnsQuestion {
  std::uint16_t id = 0;
  bool recursion = false;
  std::string name = {};  // lower case, dots between labels, none at the end; empty = the root
  std::uint16_t type = 0;
  Bytes section = {};  // as it stood, to be echoed: some programs check the letter case

  bool operator==(const DnsQuestion&) const = default;
};

// Nothing where no answer could be addressed (too short, itself an answer). A question whose name has bytes
// that are no part of a host name has the name "?"; with anything else wrong `malformed` is set.
struct ReadQuestion {
  DnsQuestion question = {};
  DnsCode problem = DnsCode::ok;
};
std::optional<ReadQuestion> parse_question(ByteView message);

// `addresses` of the family the question asks for become records; others are left out.
Bytes print_answer(const DnsQuestion& question, DnsCode code, std::span<const policy::IpBlock> addresses, std::uint32_t ttl);

// A question of our own; the name is canonical. Empty when it does not fit into a message.
Bytes print_question(std::uint16_t id, std::string_view name, std::uint16_t type);

struct DnsReply {
  DnsCode code = DnsCode::failed;
  std::vector<policy::IpBlock> addresses = {};  // at the end of the chain of aliases
  std::vector<std::string> aliases = {};        // every name the chain leads through
  std::uint32_t ttl = 0;                        // the shortest on the way
};

// Nothing unless it answers exactly this question.
std::optional<DnsReply> parse_reply(ByteView message, std::uint16_t id, std::string_view name, std::uint16_t type);

}  // namespace harn::egress

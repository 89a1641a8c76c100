// SPDX-License-Identifier: Apache-2.0
// Bytes as DNS questions and answers: no crash, names that cannot be taken for others, and answers we print
// that we can read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "egress/dns_message.h"
#include "policy/egress_rules.h"

namespace {

using namespace harn::egress;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_question(ByteView message) {
  const auto read = parse_question(message);
  if (!read || read->problem != DnsCode::ok) return;
  const auto& question = read->question;
  require(question.name.size() <= 253);
  for (const char c : question.name)
    require(question.name == "?" || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.');
  const harn::policy::IpBlock both[] = {*harn::policy::parse_ipv4("198.18.1.0"), *harn::policy::parse_ipv6("fd00::1")};
  const auto answer = print_answer(question, DnsCode::ok, both, 1);
  const bool asked = question.type == type_a || question.type == type_aaaa;
  if (!asked || question.name == "?" || question.name.empty()) return;
  const auto reply = parse_reply(answer, question.id, question.name, question.type);
  require(reply && reply->addresses.size() == 1);
  if (const auto host = harn::policy::parse_destination(question.name); host && !host->name.empty()) {
    require(host->name == question.name);
    const auto own = parse_question(print_question(question.id, host->name, type_a));
    require(own && own->problem == DnsCode::ok && own->question.name == host->name);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const ByteView message(bytes, size);
  check_question(message);
  if (size < 2) return 0;
  const auto id = static_cast<std::uint16_t>(bytes[0] << 8 | bytes[1]);
  for (const auto type : {type_a, type_aaaa}) {
    const auto reply = parse_reply(message, id, "a.org", type);
    if (!reply) continue;
    require(reply->aliases.size() <= 16);
    for (const auto& address : reply->addresses) require(address.v6 == (type == type_aaaa) && address.length == address.full_length());
  }
  return 0;
}

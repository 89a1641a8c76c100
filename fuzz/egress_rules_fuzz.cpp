// SPDX-License-Identifier: Apache-2.0
// Lines of text as rules and hosts: what is decided about a host is what the algebra of rules says, and no
// special address passes that no rule names.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text.h"
#include "policy/egress_rules.h"
#include "policy/hosts.h"

namespace {

using namespace harn;
using policy::Verdict;

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  policy::EgressOptions options;
  std::vector<policy::Destination> hosts;
  bool localhost = false;
  for (const auto line : base::split(text, '\n')) {
    if (const auto host = policy::parse_destination(line)) hosts.push_back(*host);
    if (!line.starts_with('+')) continue;
    if (auto rule = policy::parse_host_rule(line.substr(1))) {
      localhost = localhost || rule->host == "localhost";
      options.allow.push_back(std::move(*rule));
    }
  }
  const auto rules = policy::EgressRules::make(options);
  require(rules.has_value());
  constexpr std::uint16_t port = 443;
  for (const auto& host : hosts) {
    const bool admitted = policy::admits(options.allow, policy::text_of(host), port);
    if (!host.name.empty()) {
      require((rules->decide_name(host.name, port) == Verdict::allowed) == admitted);
      continue;
    }
    const auto verdict = rules->decide_address(host.address, port);
    const auto range = policy::special_range(host.address);
    if (verdict == Verdict::allowed) require(admitted || localhost);
    if (!range) require((verdict == Verdict::allowed) == admitted);
    require((rules->decide_resolved(host.address, port) == Verdict::special) == (verdict == Verdict::special));
  }
  return 0;
}

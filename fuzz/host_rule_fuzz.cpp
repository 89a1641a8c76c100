// SPDX-License-Identifier: Apache-2.0
// Lines of text as host rules: no crash, printing reads back, and the algebra keeps its laws.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text.h"
#include "policy/hosts.h"

namespace {

using harn::HostRule;
using Rules = std::vector<HostRule>;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_one(const HostRule& rule) {
  const auto again = harn::policy::parse_host_rule(harn::policy::text_of(rule));
  require(again && *again == rule);
  require(harn::policy::covers(rule, rule));
  require(harn::policy::canonical_hosts({rule}) == Rules{rule});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  Rules sides[2];
  std::size_t line = 0;
  for (const auto part : harn::base::split(text, '\n')) {
    const auto rule = harn::policy::parse_host_rule(part);
    if (rule) {
      check_one(*rule);
      sides[line++ % 2].push_back(*rule);
    } else {
      require(!rule.error().message.empty() && !rule.error().hint.empty());
    }
  }
  const Rules met = harn::policy::meet_hosts(sides[0], sides[1]);
  require(met == harn::policy::meet_hosts(sides[1], sides[0]));
  require(met == harn::policy::canonical_hosts(met));
  require(harn::policy::uncovered_hosts(sides[0], met).empty());
  require(harn::policy::uncovered_hosts(sides[1], met).empty());
  return 0;
}

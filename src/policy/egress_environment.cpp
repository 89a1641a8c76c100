// SPDX-License-Identifier: Apache-2.0
#include "policy/egress_environment.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "policy/hosts.h"

namespace harn::policy {
namespace {

std::unexpected<Error> wrong(std::string_view name, std::string_view value, std::string_view hint) {
  return fail(Error{.code = ErrorCode::invalid_policy,
                    .stage = Stage::load,
                    .message = fmt::format("{} is {}", name, base::quoted(value)),
                    .hint = std::string(hint)});
}

Result<std::vector<HostRule>> rules_in(std::string_view name, std::string_view text) {
  std::vector<HostRule> rules;
  while (!text.empty()) {
    const auto end = text.find_first_of(",;\n");
    const auto word = base::trim(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (word.empty()) continue;
    auto rule = parse_host_rule(word);
    if (!rule) {
      rule.error().message = fmt::format("{}: {}", name, rule.error().message);
      return fail(std::move(rule).error());
    }
    rules.push_back(std::move(*rule));
  }
  return rules;
}

constexpr std::array<std::string_view, 7> yes = {"1", "block", "block_private", "on", "private", "true", "yes"};
constexpr std::array<std::string_view, 5> no = {"0", "false", "no", "none", "off"};

Status read_switch(std::string_view name, const std::string& value, bool& out) {
  const auto word = base::lower_ascii(base::trim(value));
  const bool is_yes = std::ranges::find(yes, word) != yes.end();
  if (!is_yes && std::ranges::find(no, word) == no.end()) return wrong(name, value, "write on or off");
  out = is_yes;
  return {};
}

}  // namespace

std::vector<std::string> egress_resolvers(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> out;
  const auto found = variables.find("HARN_EGRESS_RESOLVER");
  if (found == variables.end()) return out;
  for (const auto word : base::split(found->second, ','))
    if (!word.empty()) out.emplace_back(word);
  return out;
}

Result<EgressEnvironment> parse_egress_environment(const std::map<std::string, std::string>& variables) {
  EgressEnvironment out;
  const auto value_of = [&](const char* name) -> const std::string* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : &found->second;
  };
  if (const auto* text = value_of("HARN_EGRESS_ALLOW")) {
    HARN_TRY(rules, rules_in("HARN_EGRESS_ALLOW", *text));
    out.allow = std::move(rules);
  }
  if (const auto* text = value_of("HARN_EGRESS_DENY")) {
    HARN_TRY(rules, rules_in("HARN_EGRESS_DENY", *text));
    out.deny = std::move(rules);
  }
  if (const auto* text = value_of("HARN_EGRESS_BLOCK_PRIVATE")) HARN_OK(read_switch("HARN_EGRESS_BLOCK_PRIVATE", *text, out.block_private));
  if (const auto* text = value_of("HARN_EGRESS_ALLOW_LOOPBACK"))
    HARN_OK(read_switch("HARN_EGRESS_ALLOW_LOOPBACK", *text, out.allow_loopback));
  if (const auto* text = value_of("HARN_EGRESS_DEFAULT")) {
    if (*text != "deny")
      return wrong("HARN_EGRESS_DEFAULT", *text, "only deny is enforced, and it is the default; to open everything use --net allowed");
    out.default_deny = true;
  }
  return out;
}

}  // namespace harn::policy

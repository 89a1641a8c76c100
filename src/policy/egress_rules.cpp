// SPDX-License-Identifier: Apache-2.0
#include "policy/egress_rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "policy/hosts.h"

namespace harn::policy {
namespace {

bool is_beneath(std::string_view name, std::string_view suffix) {
  return name.size() > suffix.size() + 1 && name.ends_with(suffix) && name[name.size() - suffix.size() - 1] == '.';
}

bool admits_name(const HostPattern& pattern, std::string_view name) {
  if (pattern.kind == HostKind::name) return pattern.name == name;
  return pattern.kind == HostKind::subdomains && is_beneath(name, pattern.name);
}

bool admits_address(const HostPattern& pattern, const IpBlock& address) {
  return pattern.kind == HostKind::block && contains(pattern.block, address);
}

bool fits(const std::optional<std::uint16_t>& wanted, std::uint16_t port) { return !wanted || *wanted == port; }

}  // namespace

Result<Destination> parse_destination(std::string_view text) {
  HARN_TRY(pattern, parse_host_pattern(text));
  if (pattern.kind == HostKind::name) return Destination{.name = std::move(pattern.name)};
  if (pattern.kind == HostKind::block && pattern.block.length == pattern.block.full_length()) return Destination{.address = pattern.block};
  return fail(Error{.code = ErrorCode::invalid_policy,
                    .stage = Stage::parse,
                    .message = fmt::format("{} is not one host", base::quoted(text)),
                    .hint = "write a name or an address"});
}

std::string text_of(const Destination& destination) { return destination.name.empty() ? print_ip(destination.address) : destination.name; }

std::string_view why(Verdict verdict) {
  switch (verdict) {
    case Verdict::allowed: return "allowed";
    case Verdict::no_rule: return "no rule admits it";
    case Verdict::denied: return "a denial names it";
    case Verdict::blocked_port: return "the port is blocked";
    case Verdict::special: return "the address is not public, and no rule names it";
  }
  return "?";
}

Result<std::vector<EgressRules::Rule>> EgressRules::compile(const std::vector<HostRule>& rules) {
  std::vector<Rule> out;
  for (const auto& rule : rules) {
    HARN_TRY(pattern, parse_host_pattern(rule.host));
    // Inside, this name means the loopback that the rule is about.
    if (pattern.kind == HostKind::name && pattern.name == "localhost")
      for (const auto* address : {"127.0.0.1", "::1"}) {
        HARN_TRY(block, parse_host_pattern(address));
        out.push_back({std::move(block), rule.port});
      }
    out.push_back({std::move(pattern), rule.port});
  }
  return out;
}

Result<EgressRules> EgressRules::make(const EgressOptions& options) {
  EgressRules rules;
  HARN_TRY(allow, compile(options.allow));
  HARN_TRY(deny, compile(options.deny));
  rules.allow_ = std::move(allow);
  rules.deny_ = std::move(deny);
  rules.blocked_.insert(options.blocked_ports.begin(), options.blocked_ports.end());
  rules.block_private_ = options.block_private;
  rules.allow_loopback_ = options.allow_loopback;
  return rules;
}

Verdict EgressRules::decide_lookup(std::string_view name) const {
  const auto denied = [&](const Rule& rule) { return !rule.port && admits_name(rule.host, name); };
  if (std::ranges::any_of(deny_, denied)) return Verdict::denied;
  const auto admitted = [&](const Rule& rule) {
    return admits_name(rule.host, name) && (!rule.port || decide_name(name, *rule.port) == Verdict::allowed);
  };
  return std::ranges::any_of(allow_, admitted) ? Verdict::allowed : Verdict::no_rule;
}

Verdict EgressRules::decide_name(std::string_view name, std::uint16_t port) const {
  if (is_blocked(port)) return Verdict::blocked_port;
  const auto names = [&](const Rule& rule) { return fits(rule.port, port) && admits_name(rule.host, name); };
  if (std::ranges::any_of(deny_, names)) return Verdict::denied;
  return std::ranges::any_of(allow_, names) ? Verdict::allowed : Verdict::no_rule;
}

// A wide block such as 0.0.0.0/0 does not name what lies in a special range; one that lies inside the
// range itself does.
bool EgressRules::special_is_closed(const IpBlock& address, std::uint16_t port) const {
  const auto range = special_range(address);
  if (!range) return false;
  if (range->loopback ? allow_loopback_ : !block_private_) return false;
  return std::ranges::none_of(allow_, [&](const Rule& rule) {
    return fits(rule.port, port) && admits_address(rule.host, address) && contains(range->block, rule.host.block);
  });
}

Verdict EgressRules::decide_resolved(const IpBlock& given, std::uint16_t port) const {
  const auto address = fold_mapped(given);
  if (is_blocked(port)) return Verdict::blocked_port;
  const auto names = [&](const Rule& rule) { return fits(rule.port, port) && admits_address(rule.host, address); };
  if (std::ranges::any_of(deny_, names)) return Verdict::denied;
  return special_is_closed(address, port) ? Verdict::special : Verdict::allowed;
}

Verdict EgressRules::decide_address(const IpBlock& given, std::uint16_t port) const {
  const auto address = fold_mapped(given);
  const auto verdict = decide_resolved(address, port);
  if (verdict != Verdict::allowed) return verdict;
  const auto range = special_range(address);
  if (allow_loopback_ && range && range->loopback) return Verdict::allowed;
  const auto names = [&](const Rule& rule) { return fits(rule.port, port) && admits_address(rule.host, address); };
  return std::ranges::any_of(allow_, names) ? Verdict::allowed : Verdict::no_rule;
}

std::size_t EgressRules::free_label_bytes(std::string_view name) const {
  std::size_t least = name.size();
  for (const auto& rule : allow_) {
    if (!admits_name(rule.host, name)) continue;
    least = std::min(least, rule.host.kind == HostKind::name ? 0 : name.size() - rule.host.name.size() - 1);
  }
  return least;
}

bool EgressRules::names_inside(const IpBlock& block) const {
  return std::ranges::any_of(allow_,
                             [&](const Rule& rule) { return rule.host.kind == HostKind::block && contains(block, rule.host.block); });
}

}  // namespace harn::policy

// SPDX-License-Identifier: Apache-2.0
// The text form of a host rule: the host, an optional port, or a URL that says both.
#include "policy/hosts.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "policy/host_pattern.h"

namespace harn::policy {
namespace {

std::unexpected<Error> refuse(std::string_view text, std::string_view problem, std::string hint) {
  return fail(Error{.code = ErrorCode::invalid_policy,
                    .stage = Stage::parse,
                    .message = fmt::format("the host rule {} {}", base::quoted(text), problem),
                    .hint = std::move(hint)});
}

struct Authority {
  std::string_view host = {};
  std::optional<std::string_view> port = {};
};

// Two colons without brackets are an IPv6 address; nothing after them is a port.
Authority split_port(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return {text, std::nullopt};
  if (text.front() == '[') {
    if (text[colon - 1] != ']') return {text, std::nullopt};
  } else if (text.find(':') != colon) {
    return {text, std::nullopt};
  }
  return {text.substr(0, colon), text.substr(colon + 1)};
}

Result<std::uint16_t> parse_port(std::string_view text, std::string_view digits) {
  const auto port = parse_decimal(digits, UINT16_MAX);
  if (!port || *port == 0) return refuse(text, fmt::format("has the port {}", base::quoted(digits)), "a port is a number from 1 to 65535");
  return static_cast<std::uint16_t>(*port);
}

Result<HostRule> parse_authority(std::string_view text, std::string_view authority) {
  const Authority parts = split_port(authority);
  HARN_TRY(pattern, parse_host_pattern(parts.host));
  HostRule rule{.host = print_host(pattern), .port = {}};
  if (!parts.port) return rule;
  HARN_TRY(port, parse_port(text, *parts.port));
  rule.port = port;
  return rule;
}

struct Scheme {
  std::string_view name = {};
  std::uint16_t port = 0;
};
constexpr std::array schemes{Scheme{"http", 80}, Scheme{"https", 443}, Scheme{"ws", 80}, Scheme{"wss", 443}};

// A rule is about who may be reached; a part of the URL that could not be enforced is refused
// rather than dropped.
Result<HostRule> parse_url(std::string_view text, std::size_t colon) {
  const std::string name = base::lower_ascii(text.substr(0, colon));
  const auto* scheme = std::find_if(schemes.begin(), schemes.end(), [&](const Scheme& s) { return s.name == name; });
  if (scheme == schemes.end())
    return refuse(text, fmt::format("has the scheme {}", base::quoted(name)),
                  "only http, https, ws and wss URLs are understood; otherwise write host:port");
  std::string_view rest = text.substr(colon + 3);
  if (rest.find_first_of("?#") != std::string_view::npos)
    return refuse(text, "has a query or fragment", "rules name hosts and ports, not pages; remove it");
  const auto slash = rest.find('/');
  if (slash != std::string_view::npos && slash + 1 != rest.size())
    return refuse(text, fmt::format("has the path {}", base::quoted(rest.substr(slash))),
                  "rules name hosts and ports, not pages; remove it");
  HARN_TRY(rule, parse_authority(text, rest.substr(0, slash)));
  if (!rule.port) rule.port = scheme->port;
  return rule;
}

}  // namespace

Result<HostRule> parse_host_rule(std::string_view text) {
  const auto scheme = text.find("://");
  return scheme == std::string_view::npos ? parse_authority(text, text) : parse_url(text, scheme);
}

std::string text_of(const HostRule& rule) {
  if (!rule.port) return rule.host;
  const bool v6 = rule.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", rule.host, v6 ? "]" : "", *rule.port);
}

}  // namespace harn::policy

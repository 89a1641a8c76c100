// SPDX-License-Identifier: Apache-2.0
// The one parser of hosts. It refuses every spelling that another program could read as a different
// host (numeric IPv4 forms, zone ids, percent signs, non-ASCII letters) and says what to write.
#include "policy/host_pattern.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace harn::policy {
namespace {

constexpr std::size_t max_label = 63;
constexpr std::size_t max_name = 253;

std::unexpected<Error> refuse(std::string_view text, std::string_view problem, std::string hint) {
  return fail(Error{.code = ErrorCode::invalid_policy,
                    .stage = Stage::parse,
                    .message = fmt::format("the host {} {}", base::quoted(text), problem),
                    .hint = std::move(hint)});
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }
bool is_name_char(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '_'; }

Status check_bytes(std::string_view text) {
  if (text.empty()) return refuse(text, "is empty", "write a name such as 'example.org', an address or a CIDR block");
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte == 0x7f)
      return refuse(text, "contains a space or control character", "write one host per entry, without spaces");
    if (byte > 0x7f) return refuse(text, "contains non-ASCII letters", "write the punycode form, which starts with 'xn--'");
    if (c == '%') return refuse(text, "contains '%'", "zone ids and percent-encoding are not accepted; write the plain name or address");
    if (c == '@') return refuse(text, "contains user information", "write only the host, without anything before '@'");
  }
  return {};
}

// WHATWG URL "ends in a number": what any resolver might read as an IPv4 address.
bool ends_in_number(std::string_view name) {
  const auto label = name.substr(name.rfind('.') + 1);
  if (label.starts_with("0x")) return std::all_of(label.begin() + 2, label.end(), is_hex);
  return !label.empty() && std::all_of(label.begin(), label.end(), is_digit);
}

std::unexpected<Error> refuse_ipv4(std::string_view text, std::string_view address) {
  const auto meant = guess_ipv4(address);
  return refuse(text, "is not an IPv4 address in its canonical form",
                meant ? fmt::format("write '{}' if that is the address you mean", print_ip(*meant))
                      : "an IPv4 address is four decimal numbers from 0 to 255");
}

Status check_label(std::string_view text, std::string_view label) {
  if (label.empty()) return refuse(text, "has an empty label", "write labels separated by single dots");
  if (label.size() > max_label)
    return refuse(text, fmt::format("has a label of {} characters", label.size()), "a label has at most 63 characters");
  if (label.front() == '-' || label.back() == '-')
    return refuse(text, fmt::format("has the label {}", base::quoted(label)), "a label neither starts nor ends with '-'");
  for (const char c : label)
    if (!is_name_char(c))
      return refuse(text, fmt::format("contains {}", base::quoted(std::string_view(&c, 1))),
                    "names consist of letters, digits, '-' and '_'");
  return {};
}

Status check_name(std::string_view text, std::string_view name) {
  if (name.size() > max_name) return refuse(text, fmt::format("has {} characters", name.size()), "a name has at most 253 characters");
  for (const auto label : base::split(name, '.')) HARN_OK(check_label(text, label));
  return {};
}

Result<HostPattern> parse_subdomains(std::string_view text, std::string_view name) {
  if (name == "*") return refuse(text, "would admit every host", "set network mode = \"unrestricted\" if that is what you mean");
  const auto suffix = name.substr(std::min<std::size_t>(name.size(), 2));
  if (!name.starts_with("*.") || suffix.find('*') != std::string_view::npos)
    return refuse(text, "has a '*' inside a name", "'*' only stands first, as in '*.example.org', and admits every subdomain");
  HARN_OK(check_name(text, suffix));
  if (ends_in_number(suffix)) return refuse(text, "puts '*' before an address", "use a CIDR block such as '10.0.0.0/8'");
  if (suffix.find('.') == std::string_view::npos)
    return refuse(text, fmt::format("would admit every name under {}", base::quoted(suffix)),
                  fmt::format("name at least two labels, for example '*.example.{}'", suffix));
  return HostPattern{.kind = HostKind::subdomains, .name = std::string(suffix), .block = {}};
}

Result<HostPattern> parse_name(std::string_view text, std::string_view name) {
  if (name.size() > 1 && name.back() == '.') name.remove_suffix(1);
  if (name.find('*') != std::string_view::npos) return parse_subdomains(text, name);
  if (ends_in_number(name)) {
    const auto address = parse_ipv4(name);
    if (!address) return refuse_ipv4(text, name);
    return HostPattern{.kind = HostKind::block, .name = {}, .block = *address};
  }
  HARN_OK(check_name(text, name));
  return HostPattern{.kind = HostKind::name, .name = std::string(name), .block = {}};
}

Result<IpBlock> parse_address(std::string_view text, std::string_view address) {
  if (address.find(':') == std::string_view::npos) {
    const auto v4 = parse_ipv4(address);
    if (v4) return *v4;
    if (ends_in_number(address)) return refuse_ipv4(text, address);
    return refuse(text, "contains a path", "rules name hosts and ports, not pages; write only the host");
  }
  const auto v6 = parse_ipv6(address);
  if (!v6) return refuse(text, "is not an IPv6 address", "write it like '2001:db8::1', or '[2001:db8::1]:443' with a port");
  return *v6;
}

Result<HostPattern> parse_block(std::string_view text, std::string_view bare) {
  const auto slash = bare.find('/');
  HARN_TRY(block, parse_address(text, bare.substr(0, slash)));
  if (slash != std::string_view::npos) {
    const auto digits = bare.substr(slash + 1);
    const auto length = parse_decimal(digits, block.full_length());
    if (!length)
      return refuse(text, fmt::format("has the prefix length {}", base::quoted(digits)),
                    fmt::format("write a number from 0 to {}", block.full_length()));
    block.length = *length;
  }
  if (const IpBlock clean = masked(block); clean != block)
    return refuse(text, fmt::format("has address bits set beyond /{}", block.length),
                  fmt::format("write '{}'", print_ip(fold_mapped(clean))));
  return HostPattern{.kind = HostKind::block, .name = {}, .block = fold_mapped(block)};
}

}  // namespace

Result<HostPattern> parse_host_pattern(std::string_view text) {
  HARN_OK(check_bytes(text));
  const std::string lower = base::lower_ascii(text);
  std::string_view bare = lower;
  const bool brackets = bare.front() == '[';
  if (brackets && bare.back() != ']')
    return refuse(text, "has no closing ']' at its end", "write IPv6 like '[2001:db8::1]' or '[2001:db8::/32]'");
  if (brackets) bare = bare.substr(1, bare.size() - 2);
  if (brackets && bare.find(':') == std::string_view::npos)
    return refuse(text, "has brackets around something that is not IPv6", "only IPv6 addresses stand in brackets");
  if (bare.find_first_of(":/") != std::string_view::npos) return parse_block(text, bare);
  return parse_name(text, bare);
}

std::string print_host(const HostPattern& pattern) {
  switch (pattern.kind) {
    case HostKind::block: return print_ip(pattern.block);
    case HostKind::subdomains: return "*." + pattern.name;
    case HostKind::name: break;
  }
  return pattern.name;
}

}  // namespace harn::policy

// SPDX-License-Identifier: Apache-2.0
#include "egress/settings.h"

#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "policy/hosts.h"

namespace harn::egress {
namespace {

struct LimitName {
  std::string_view name = {};
  std::uint64_t RelayLimits::* member = nullptr;
};
constexpr LimitName limit_names[] = {
    {"connections", &RelayLimits::connections},         {"idle_seconds", &RelayLimits::idle_seconds},
    {"connect_seconds", &RelayLimits::connect_seconds}, {"lookup_ms", &RelayLimits::lookup_ms},
    {"name_bytes", &RelayLimits::name_bytes},           {"free_name_bytes", &RelayLimits::free_name_bytes},
    {"bytes_per_host", &RelayLimits::bytes_per_host},
};

std::unexpected<Error> wrong(std::string_view line) {
  return fail(Error{.code = ErrorCode::protocol,
                    .stage = Stage::parse,
                    .message = fmt::format("the relay was told {}, which it does not understand", base::quoted(line))});
}

Result<std::uint64_t> number(std::string_view line, std::string_view text, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > most) return wrong(line);
  return value;
}

Result<policy::IpBlock> one_address(std::string_view text) {
  HARN_TRY(destination, policy::parse_destination(text));
  if (!destination.name.empty())
    return fail(Error{.code = ErrorCode::invalid_policy,
                      .stage = Stage::parse,
                      .message = fmt::format("{} is not an address", base::quoted(text)),
                      .hint = "write an address such as '127.0.0.1'"});
  return destination.address;
}

Status read_line(std::string_view line, RelaySettings& settings) {
  const auto space = line.find(' ');
  if (space == std::string_view::npos) return wrong(line);
  const auto key = line.substr(0, space);
  const auto value = line.substr(space + 1);
  if (key == "allow" || key == "deny") {
    HARN_TRY(rule, policy::parse_host_rule(value));
    (key == "allow" ? settings.rules.allow : settings.rules.deny).push_back(std::move(rule));
    return {};
  }
  if (key == "block" || key == "proxy") {
    HARN_TRY(port, number(line, value, UINT16_MAX));
    if (key == "block") settings.rules.blocked_ports.push_back(static_cast<std::uint16_t>(port));
    else settings.proxy_port = static_cast<std::uint16_t>(port);
    return {};
  }
  if (key == "private" || key == "loopback") {
    if (value != "open" && value != "closed") return wrong(line);
    if (key == "private") settings.rules.block_private = value == "closed";
    else settings.rules.allow_loopback = value == "open";
    return {};
  }
  if (key == "asks" || key == "announced" || key == "stays") {
    if (value != "yes") return wrong(line);
    (key == "asks" ? settings.asks : key == "stays" ? settings.stays : settings.announced) = true;
    return {};
  }
  if (key == "secret") {
    settings.secret = std::string(value);
    return {};
  }
  if (key == "nameserver") {
    HARN_TRY(server, parse_nameserver(value));
    settings.nameservers.push_back(server);
    return {};
  }
  if (key == "hostname") {
    settings.hostname = std::string(value);
    return {};
  }
  const auto second = value.find(' ');
  if (second == std::string_view::npos) return wrong(line);
  if (key == "host") {
    HARN_TRY(address, one_address(value.substr(second + 1)));
    settings.hosts[std::string(value.substr(0, second))].push_back(address);
    return {};
  }
  if (key == "limit")
    for (const auto& [name, member] : limit_names)
      if (name == value.substr(0, second)) {
        HARN_TRY(amount, number(line, value.substr(second + 1), UINT64_MAX));
        settings.limits.*member = amount;
        return {};
      }
  return wrong(line);
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  line = line.substr(0, line.find_first_of("#;"));
  while (!line.empty()) {
    const auto start = line.find_first_not_of(" \t\r");
    if (start == std::string_view::npos) break;
    const auto end = line.find_first_of(" \t\r", start);
    words.push_back(line.substr(start, end - start));
    line = end == std::string_view::npos ? std::string_view() : line.substr(end);
  }
  return words;
}

}  // namespace

std::string print_settings(const RelaySettings& settings) {
  std::string out;
  for (const auto& rule : settings.rules.allow) out += fmt::format("allow {}\n", policy::text_of(rule));
  for (const auto& rule : settings.rules.deny) out += fmt::format("deny {}\n", policy::text_of(rule));
  for (const auto port : settings.rules.blocked_ports) out += fmt::format("block {}\n", port);
  out += fmt::format("private {}\n", settings.rules.block_private ? "closed" : "open");
  out += fmt::format("loopback {}\n", settings.rules.allow_loopback ? "open" : "closed");
  out += fmt::format("proxy {}\n", settings.proxy_port);
  if (settings.asks) out += "asks yes\n";
  if (settings.announced) out += "announced yes\n";
  if (settings.stays) out += "stays yes\n";
  if (!settings.secret.empty()) out += fmt::format("secret {}\n", settings.secret);
  for (const auto& server : settings.nameservers) {
    const auto address = policy::print_ip(server.address);
    out += server.address.v6 ? fmt::format("nameserver [{}]:{}\n", address, server.port)
                             : fmt::format("nameserver {}:{}\n", address, server.port);
  }
  for (const auto& [name, addresses] : settings.hosts)
    for (const auto& address : addresses) out += fmt::format("host {} {}\n", name, policy::print_ip(address));
  if (!settings.hostname.empty()) out += fmt::format("hostname {}\n", settings.hostname);
  for (const auto& [name, member] : limit_names) out += fmt::format("limit {} {}\n", name, settings.limits.*member);
  return out;
}

Result<RelaySettings> parse_settings(std::string_view text) {
  RelaySettings settings;
  if (!text.empty() && text.back() != '\n') return wrong(text.substr(text.rfind('\n') + 1));
  while (!text.empty()) {
    const auto end = text.find('\n');
    HARN_OK(read_line(text.substr(0, end), settings));
    text = text.substr(end + 1);
  }
  return settings;
}

std::vector<Nameserver> parse_resolv_conf(std::string_view text) {
  constexpr std::size_t as_many_as_libc = 3;
  std::vector<Nameserver> servers;
  for (const auto line : base::split(text, '\n')) {
    const auto words = words_of(line);
    if (words.size() < 2 || words[0] != "nameserver" || servers.size() == as_many_as_libc) continue;
    // A zone names an interface of the host, which a socket without it does not find.
    if (const auto address = one_address(words[1])) servers.push_back({.address = *address});
  }
  if (servers.empty()) servers.push_back({.address = *policy::parse_ipv4("127.0.0.1")});
  return servers;
}

std::map<std::string, std::vector<policy::IpBlock>> parse_hosts_file(std::string_view text) {
  std::map<std::string, std::vector<policy::IpBlock>> hosts;
  for (const auto line : base::split(text, '\n')) {
    const auto words = words_of(line);
    if (words.size() < 2) continue;
    const auto address = one_address(words[0]);
    if (!address) continue;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto name = policy::parse_destination(words[i]);
      if (name && !name->name.empty()) hosts[name->name].push_back(*address);
    }
  }
  return hosts;
}

Result<Nameserver> parse_nameserver(std::string_view text) {
  HARN_TRY(rule, policy::parse_host_rule(text));
  HARN_TRY(address, one_address(rule.host));
  return Nameserver{.address = address, .port = rule.port.value_or(53)};
}

}  // namespace harn::egress

// SPDX-License-Identifier: Apache-2.0
#include "cli/network_flags.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "policy/egress_environment.h"
#include "policy/hosts.h"
#include "policy/ip_address.h"

namespace harn::cli {
namespace {

constexpr std::size_t most_published = 32;

Result<std::uint16_t> port_in(std::string_view option, std::string_view text) {
  const auto port = policy::parse_decimal(text, UINT16_MAX);
  if (!port || *port == 0)
    return wrong_usage(fmt::format("--{}: {} is not a port", option, base::quoted(text)), "a port is a number from 1 to 65535");
  return static_cast<std::uint16_t>(*port);
}

bool is_mode(const Arguments& arguments, std::string_view mode) {
  const auto* said = arguments.value("net");
  return said != nullptr && *said == mode;
}

// A port of the host's loopback is a host like any other, so ceilings and intersections know it.
Status add_host_ports(const Arguments& arguments, Network& network) {
  for (const auto& text : arguments.all("host-port")) {
    HARN_TRY(port, port_in("host-port", text));
    for (const auto* address : {"127.0.0.1", "::1"}) network.allowed_hosts.push_back({address, port});
  }
  return {};
}

Status check_modes(const Arguments& arguments) {
  const auto* mode = arguments.value("net");
  if (mode == nullptr) return {};
  for (const auto* option : {"allow-host", "host-port"})
    if (*mode != "restricted" && arguments.has(option))
      return wrong_usage(fmt::format("--{} contradicts '--net {}'", option, *mode), "use --net restricted, or leave --net out");
  if (*mode == "allowed" && arguments.has("publish"))
    return wrong_usage("--publish contradicts '--net allowed'", "with the host's network every port is the host's already");
  return {};
}

}  // namespace

Status read_network(const Arguments& arguments, Policy& policy) {
  const auto* mode = arguments.value("net");
  const auto& hosts = arguments.all("allow-host");
  const bool named = !hosts.empty() || arguments.has("host-port");
  HARN_OK(check_modes(arguments));
  if (mode == nullptr && !named && !arguments.has("loopback") && !arguments.has("publish")) return {};
  Network network{.loopback = arguments.has("loopback") || arguments.has("publish")};
  for (const auto& text : hosts) {
    auto rule = policy::parse_host_rule(text);
    if (!rule) return wrong_usage(fmt::format("--allow-host: {}", rule.error().message), std::move(rule.error().hint));
    network.allowed_hosts.push_back(std::move(*rule));
  }
  HARN_OK(add_host_ports(arguments, network));
  if (is_mode(arguments, "allowed")) network.mode = NetworkMode::unrestricted;
  const bool asked = is_mode(arguments, "restricted") && arguments.has("ask");
  if (network.mode == NetworkMode::unrestricted || named || asked) policy.side_effect_level = SideEffectLevel::network;
  policy.network = std::move(network);
  return {};
}

Status add_egress_hosts(const Arguments& arguments, const std::map<std::string, std::string>& environment, Policy& flags) {
  HARN_TRY(said, policy::parse_egress_environment(environment));
  const bool restricted = is_mode(arguments, "restricted");
  if (!said.allow.empty() && (restricted || arguments.value("net") == nullptr)) {
    if (!flags.network) flags.network.emplace();
    flags.network->allowed_hosts.insert(flags.network->allowed_hosts.end(), said.allow.begin(), said.allow.end());
    flags.side_effect_level = SideEffectLevel::network;
  }
  if (restricted && flags.network->allowed_hosts.empty() && !arguments.has("ask"))
    return wrong_usage("'--net restricted' names no host", "add --allow-host HOST or --ask, or use --net none");
  return {};
}

Result<EgressChoices> egress_choices(const Arguments& arguments, const std::map<std::string, std::string>& environment) {
  HARN_TRY(said, policy::parse_egress_environment(environment));
  if (is_mode(arguments, "allowed") && (!said.deny.empty() || said.default_deny))
    return wrong_usage("'--net allowed' contradicts HARN_EGRESS_DENY or HARN_EGRESS_DEFAULT=deny",
                       "nothing refuses single hosts while the whole network is open; use --net restricted");
  EgressChoices out{.deny = std::move(said.deny), .block_private = said.block_private, .allow_loopback = said.allow_loopback};
  for (const auto& text : arguments.all("publish")) {
    HARN_TRY(port, port_in("publish", text));
    if (std::ranges::find(out.publish, port) == out.publish.end()) out.publish.push_back(port);
  }
  if (out.publish.size() > most_published)
    return wrong_usage(fmt::format("--publish names {} ports", out.publish.size()), fmt::format("publish at most {}", most_published));
  return out;
}

}  // namespace harn::cli

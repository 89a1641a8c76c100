// SPDX-License-Identifier: Apache-2.0
#include "sandbox/relay_settings.h"

#include <unistd.h>

#include <array>

#include <fmt/format.h>

#include "policy/host_pattern.h"
#include "sys/files.h"

namespace harn::sandbox {
namespace {

constexpr std::size_t longest_table = 1u << 20;

std::string text_at(const char* path) {
  const auto text = sys::read_file(AbsPath::of(path), longest_table);
  return text ? *text : std::string();
}

std::string own_hostname() {
  std::array<char, 256> name = {};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  const auto parsed = policy::parse_destination(name.data());
  return parsed ? parsed->name : std::string();
}

}  // namespace

Result<egress::RelaySettings> relay_settings(const EgressPlan& plan, const std::vector<std::string>& nameservers) {
  egress::RelaySettings settings{.rules = {.allow = plan.allow,
                                           .deny = plan.deny,
                                           .blocked_ports = plan.blocked_ports,
                                           .block_private = plan.block_private,
                                           .allow_loopback = plan.allow_loopback},
                                 .proxy_port = plan.relay_port,
                                 .hosts = egress::parse_hosts_file(text_at("/etc/hosts")),
                                 .hostname = own_hostname(),
                                 .announced = plan.supervised,
                                 .asks = plan.asks};
  if (nameservers.empty()) settings.nameservers = egress::parse_resolv_conf(text_at("/etc/resolv.conf"));
  for (const auto& text : nameservers) {
    HARN_TRY(server, egress::parse_nameserver(text));
    settings.nameservers.push_back(server);
  }
  return settings;
}

void add_report(egress::NetworkReport report, bool complete, Outcome& outcome) {
  if (!complete) outcome.relay_lost = "the relay ended before the command did: what it reached and what was refused is not known in full";
  else if (report.unnamed != 0) outcome.relay_lost = fmt::format("{} further hosts or refusals are not listed", report.unnamed);
  outcome.contacted = std::move(report.contacts);
  outcome.denials.insert(outcome.denials.end(), std::make_move_iterator(report.denials.begin()),
                         std::make_move_iterator(report.denials.end()));
}

}  // namespace harn::sandbox

// SPDX-License-Identifier: Apache-2.0
// Everything a relay is told before it starts, as text in a file it inherits. Written by the launcher,
// which is trusted; still parsed strictly, because a rule that is read wrongly is a hole.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harn/result.h"
#include "policy/egress_rules.h"
#include "policy/ip_address.h"

namespace harn::egress {

struct Nameserver {
  policy::IpBlock address = {};
  std::uint16_t port = 53;

  bool operator==(const Nameserver&) const = default;
};

struct RelayLimits {
  std::uint64_t connections = 4096;       // at one time
  std::uint64_t idle_seconds = 300;       // without a byte in either direction
  std::uint64_t connect_seconds = 15;     // to reach a host
  std::uint64_t lookup_ms = 5000;         // to resolve a name
  std::uint64_t name_bytes = 128;         // of labels a `*.suffix` rule leaves free, per name
  std::uint64_t free_name_bytes = 65536;  // the same, of all names together
  std::uint64_t bytes_per_host = 0;       // 0 = no limit

  bool operator==(const RelayLimits&) const = default;
};

// Who says the password calls itself so.
inline constexpr std::string_view proxy_user = "harn";

struct RelaySettings {
  policy::EgressOptions rules = {};
  std::uint16_t proxy_port = 0;  // on the sandbox's loopback; 0 = none
  std::vector<Nameserver> nameservers = {};
  std::map<std::string, std::vector<policy::IpBlock>> hosts = {};  // the host's own table
  std::string hostname = {};                                       // answered with loopback
  RelayLimits limits = {};
  bool announced = false;     // the command is on the host's network: its connections are led here, and announced
  bool asks = false;          // a host no rule admits waits for the launcher's word
  bool stays = false;         // when its launcher has ended: it serves a session, and ends with that
  std::string secret = {};    // of whoever may change the rules; empty = nobody
  std::string password = {};  // of whoever may ask the proxy; empty = everybody who can connect. Never printed
};

std::string print_settings(const RelaySettings& settings);
Result<RelaySettings> parse_settings(std::string_view text);

// /etc/resolv.conf and /etc/hosts. Lines nobody understands are passed over, as libc does.
std::vector<Nameserver> parse_resolv_conf(std::string_view text);
std::map<std::string, std::vector<policy::IpBlock>> parse_hosts_file(std::string_view text);
// ADDRESS or ADDRESS:PORT, IPv6 with a port in brackets.
Result<Nameserver> parse_nameserver(std::string_view text);

}  // namespace harn::egress

// SPDX-License-Identifier: Apache-2.0
// Who may be reached, as one object that decides about names before they are resolved and about
// addresses before they are dialled. Order: blocked ports, denials, special ranges, permissions; what
// nothing admits is refused. Parsed once from rules; no text is compared afterwards.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harn/policy.h"
#include "policy/host_pattern.h"
#include "policy/special_addresses.h"

namespace harn::policy {

// One concrete host: a canonical name, or a single address (::ffff:a.b.c.d is IPv4).
struct Destination {
  std::string name = {};  // empty = an address
  IpBlock address = {};

  bool operator==(const Destination&) const = default;
};

// The same grammar as host rules, without patterns, blocks and ports; a trailing dot is dropped.
Result<Destination> parse_destination(std::string_view text);
std::string text_of(const Destination& destination);

enum class Verdict : std::uint8_t {
  allowed,
  no_rule,       // nothing admits it
  denied,        // a denial names it
  blocked_port,  // the port is closed whatever the host
  special,       // an address that is not public, and no rule names it
};

// For people: "no rule admits it", …
std::string_view why(Verdict verdict);

struct EgressOptions {
  std::vector<HostRule> allow = {};
  std::vector<HostRule> deny = {};
  std::vector<std::uint16_t> blocked_ports = {};
  bool block_private = true;    // special ranges need a rule of their own
  bool allow_loopback = false;  // the host's own loopback needs none
};

class EgressRules {
 public:
  // Fails when a rule is not one.
  static Result<EgressRules> make(const EgressOptions& options);

  // Whether a name is worth resolving: some port of it may be reached.
  Verdict decide_lookup(std::string_view name) const;
  // Before resolving, for one port.
  Verdict decide_name(std::string_view name, std::uint16_t port) const;
  // An address that somebody names directly.
  Verdict decide_address(const IpBlock& address, std::uint16_t port) const;
  // An address that an admitted name resolved to.
  Verdict decide_resolved(const IpBlock& address, std::uint16_t port) const;

  // Bytes of the name in front of the suffix of the `*.suffix` rule that admits it; 0 where a rule names it exactly.
  std::size_t free_label_bytes(std::string_view name) const;
  // Whether some rule lies inside the block: its addresses are meant literally then.
  bool names_inside(const IpBlock& block) const;

 private:
  bool is_blocked(std::uint16_t port) const { return blocked_.contains(port); }
  struct Rule {
    HostPattern host = {};
    std::optional<std::uint16_t> port = {};
  };
  static Result<std::vector<Rule>> compile(const std::vector<HostRule>& rules);
  bool special_is_closed(const IpBlock& address, std::uint16_t port) const;

  std::vector<Rule> allow_ = {};
  std::vector<Rule> deny_ = {};
  std::set<std::uint16_t> blocked_ = {};
  bool block_private_ = true;
  bool allow_loopback_ = false;
};

}  // namespace harn::policy

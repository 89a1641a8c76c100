// SPDX-License-Identifier: Apache-2.0
// Host rules: one parser, one canonical form, and their algebra by meaning.
// Grammar: host[:port] | *.suffix[:port] | IPv4[/n][:port] | IPv6[/n] | '['IPv6[/n]']'[:port] |
// URL (http, https, ws, wss: host and port, nothing else). `*.x.org` admits strict subdomains of
// x.org, not x.org itself. ::ffff:a.b.c.d is the IPv4 address; no IPv6 block admits an IPv4 one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harn/policy.h"

namespace harn::policy {

Result<HostRule> parse_host_rule(std::string_view text);

// What parse_host_rule() reads back to the same rule.
std::string text_of(const HostRule& rule);

// True when every (host, port) that `narrow` admits is admitted by `wide`.
bool covers(const HostRule& wide, const HostRule& narrow);

// Sorted, and the one spelling of what the rules admit together: exactly the widest rules that fit,
// so two halves of a CIDR block become the block. What intersect() and digest() compare.
std::vector<HostRule> canonical_hosts(std::vector<HostRule> rules);

// What both lists admit, by meaning: *.x.org ∩ a.x.org = a.x.org. Canonical.
std::vector<HostRule> meet_hosts(const std::vector<HostRule>& a, const std::vector<HostRule>& b);

// The rules of `narrow` that admit something `wide` does not; sorted. Empty = within.
std::vector<HostRule> uncovered_hosts(const std::vector<HostRule>& wide, const std::vector<HostRule>& narrow);

// Whether one concrete destination is admitted by some rule. `host` is a name or an IP literal.
bool admits(const std::vector<HostRule>& rules, std::string_view host, std::uint16_t port);

}  // namespace harn::policy

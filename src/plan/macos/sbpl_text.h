// SPDX-License-Identifier: Apache-2.0
// Seatbelt profiles as a list of typed rules, and the only place where such a rule becomes text.
// Paths come from outside: a profile glued together from strings is one quote away from granting
// everything, so nothing else in Harn writes SBPL.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace harn::plan {

// What a rule looks at. `value` of the filter is the text it compares with, unless said otherwise.
enum class SbplMatch : std::uint8_t {
  literal,         // exactly this path
  subpath,         // this path and everything beneath it
  regex,           // a path matching this POSIX extended expression
  same_sandbox,    // a process of this sandbox; no value
  sysctl_prefix,   // a sysctl whose name begins so
  service,         // a Mach service of this name
  service_prefix,  // a Mach service whose name begins so
  posix_name,      // a POSIX semaphore or shared memory object
  ioctl,           // an ioctl command; value is its decimal number
  local_address,   // our end, "localhost:*"
  remote_address,  // the other end, "*:25"
  any_socket,      // any Unix socket on the other end; no value
  socket,          // the Unix socket at this path on the other end
  unix_domain,     // sockets of the Unix domain; no value
};

struct SbplFilter {
  SbplMatch match = SbplMatch::literal;
  std::string value = {};

  bool operator==(const SbplFilter&) const = default;
};

// Of all rules that match, the last decides. No filters = always matches; several = any of them.
struct SbplRule {
  bool allow = false;
  std::vector<std::string> operations = {};
  std::vector<SbplFilter> filters = {};
  std::string why = {};  // becomes a comment; one line of our own words, never data from outside

  bool operator==(const SbplRule&) const = default;
};

// A string literal that reads back as exactly these bytes.
std::string sbpl_quoted(std::string_view text);

// An expression for a path given in two parts: the second in any mixture of upper and lower case.
// It matches that path and everything beneath it.
std::string sbpl_any_case(std::string_view exact, std::string_view any_case);

std::string sbpl_text(const SbplFilter& filter);

// The whole profile: version, deny default, then the rules in order.
std::string sbpl_text(std::span<const SbplRule> rules);

}  // namespace harn::plan

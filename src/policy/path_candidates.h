// SPDX-License-Identifier: Apache-2.0
// Every path at which a policy's meaning may change on one host, each with what is said about exactly
// that path. Sorted, so that one sweep can hand down what holds above.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "harn/policy.h"

namespace harn::policy {

// What is said about a path; flags, because several things may be.
enum class Said : std::uint16_t {
  nothing = 0,
  workspace = 1 << 0,  // the policy's lists
  read_only = 1 << 1,
  process_read = 1 << 2,
  process_write = 1 << 3,
  deny = 1 << 4,
  unprotect = 1 << 5,
  credential = 1 << 6,
  exposed = 1 << 7,
  protected_name = 1 << 8,
  capped = 1 << 9,  // never more than readable: the host executes or trusts it
};
constexpr Said operator|(Said a, Said b) { return static_cast<Said>(static_cast<unsigned>(a) | static_cast<unsigned>(b)); }
constexpr bool says(Said set, Said any_of) { return (static_cast<unsigned>(set) & static_cast<unsigned>(any_of)) != 0; }

// Opened by something other than the policy's own lists. Additive: never narrows a list, never opens
// what a list denies.
struct Opened {
  Access access = Access::none;
  Origin origin = Origin::nothing;
};

struct Candidate {
  AbsPath path = {};
  Said said = Said::nothing;
  Opened opened = {};
};

enum class CandidateScope : std::uint8_t {
  file_operations,  // Harn's own: nothing from process_sandbox beyond its denials
  processes,
  whole_host  // processes, as if everything existed and could be a link: what a look at the host must cover
};

// Sorted and without duplicates. Outside whole_host, credentials that nothing grants are left out;
// within, what `known_absent` answers for.
using KnownAbsent = std::function<bool(std::string_view path)>;
std::vector<Candidate> path_candidates(const Policy& policy, const HostFacts& facts, CandidateScope scope,
                                       const KnownAbsent& known_absent = {});

}  // namespace harn::policy

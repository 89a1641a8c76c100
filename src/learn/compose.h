// SPDX-License-Identifier: Apache-2.0
// From what is needed to a policy: as wide as a command can be let while it is watched, and as narrow as
// it can be let afterwards.
#pragma once

#include "learn/generalise.h"
#include "learn/needs.h"

namespace harn::learn {

struct Composing {
  const HostFacts& facts;
  AbsPath project = {};
  std::optional<Policy> base = {};  // what a policy grants already; unset = there was none
  const PathRules* base_rules = nullptr;
};

// For the first runs: what a command gets by default, and what was needed so far.
Policy watching_policy(const Composing& composing, const Needs& needs);
// What was needed, generalised, and what `base` grants. The project can be read in any case.
Policy least_policy(const Composing& composing, const Needs& needs);

// Its text: comments that say where it comes from, then the policy, which parses back to the same.
struct Provenance {
  std::string command = {};
  std::size_t runs = 0;
  bool proved = false;  // a run under exactly this policy went as the watched ones
};

// A host that no name leads to (RFC 6761): with it alone, a relay tells who is asked for and lets nothing out.
inline constexpr std::string_view nobody = "nobody.invalid";

}  // namespace harn::learn

// SPDX-License-Identifier: Apache-2.0
// A learned policy as a file: who needed what, what was left out, and then the policy.
#pragma once

#include <string>

#include "learn/compose.h"

namespace harn::learn {

struct Learned {
  const Policy& policy;
  const Needs& needs;
  Provenance provenance = {};
};

// Parses back to exactly this policy. Whatever a command made of its paths, a comment ends with its line.
std::string learned_text(const Learned& learned);

}  // namespace harn::learn

// SPDX-License-Identifier: Apache-2.0
// A policy as a flat list of (wire member, text) lines, for reports that compare two policies.
#pragma once

#include <string>
#include <vector>

#include "harn/policy.h"

namespace harn::policy {

// How a bigger text relates to authority.
enum class Direction : std::uint8_t {
  grants,     // every entry allows something: more entries, more authority
  restricts,  // every entry takes something away
  scalar,     // one value; compare as a whole
};

struct MemberText {
  std::string_view member = {};
  Direction direction = Direction::scalar;
  std::vector<std::string> entries = {};

  bool operator==(const MemberText&) const = default;
};

// All members that carry authority, always in the same order and number.
std::vector<MemberText> member_texts(const Policy& policy);

}  // namespace harn::policy

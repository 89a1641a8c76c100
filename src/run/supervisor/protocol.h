// SPDX-License-Identifier: Apache-2.0
// What the supervisor program is given when it starts: five descriptors and one block of rules. It
// speaks to the launcher as the init program does (init/protocol.h).
#pragma once

#include <cstdint>

namespace harn::run::supervisor {

inline constexpr int status_fd = 3;
inline constexpr int control_fd = 4;
inline constexpr int post_fd = 5;   // a socket: the command's process sends the listener, and its own number
inline constexpr int rules_fd = 6;  // a file with the rules, see below

// What a path may be used for. The nearest rule at or above a path decides; without one, nothing.
enum class Allowed : std::uint8_t {
  nothing,
  reading,
  changing,  // content, names and metadata
  writing,   // a device: what is written to it changes no file
};

// The file of rules: a header, then for each rule its length, what is allowed, and its path without a
// closing zero; sorted, so that a rule stands before those beneath it.
struct RulesHeader {
  std::uint32_t bytes = 0;  // of everything that follows
  std::uint32_t count = 0;
};
struct RuleHead {
  std::uint16_t length = 0;
  Allowed allowed = Allowed::nothing;
  std::uint8_t unused = 0;
};
static_assert(sizeof(RuleHead) == 4);

}  // namespace harn::run::supervisor

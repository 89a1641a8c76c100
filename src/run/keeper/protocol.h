// SPDX-License-Identifier: Apache-2.0
// What is said to the keeper of a view over its socket, and how scripts travel: the same steps a child
// replays, with places in the letter instead of pointers and places in the list of descriptors instead of
// their numbers.
#pragma once

#include <errno.h>

#include <cstdint>

#include "run/child/script.h"

namespace harn::run::keeper {

inline constexpr std::uint32_t magic = 0x6b657031;  // "kep1"

// What the keeper finds when it starts.
inline constexpr int listener_fd = child::first_kept_fd;        // its socket
inline constexpr int template_fd = child::first_kept_fd + 1;    // a letter: what every command gives up
inline constexpr int first_gift_fd = child::first_kept_fd + 2;  // the descriptors that letter speaks of

inline constexpr unsigned most_fds = 24;
inline constexpr std::uint32_t longest_letter = 8u << 20;  // arguments and environment have 6 MiB at most

enum class Kind : std::uint32_t {
  exec = 1,        // a letter follows; answered with an Answer, then by records on a pipe
  prove = 2,       // the same without a command: everything is given up, tried, and the process ends
  state = 3,       // answered with a State
  suspend = 4,     // everybody is stopped; answered with a State
  resume = 5,      // answered with a State
  end = 6,         // everybody ends, the keeper too
  refresh = 8,     // the ruleset has grown: whoever enforced it before serves nobody; answered with a State
  reserve = 9,     // an exec will follow on this connection, whose holder gets ready meanwhile; answered by nothing
  namespaces = 7,  // answered with the user, mount and network namespace, and the Landlock ruleset where there is one
};

struct Order {
  std::uint32_t magic = keeper::magic;
  Kind kind = Kind::state;
  std::uint32_t letter_bytes = 0;
  std::uint32_t fds = 0;
  std::uint32_t flags = 0;
  std::uint32_t unused = 0;
};

// What a group is frozen by: "1" and "0" in cgroup.freeze, told by cgroup.events, or "FROZEN" and "THAWED" in freezer.state.
enum class Freezer : std::uint32_t {
  none = 0,
  v2 = 1,
  v1 = 2
};

// How the steps went; those of the template are counted between those of the letter.
struct Answer {
  child::Report report = {};
  std::uint32_t template_steps = 0;
};

inline constexpr std::uint32_t keeps_processes = 1;  // what the command leaves behind stays with the keeper
inline constexpr std::uint32_t waits_for_word = 2;   // when everything else is done, a byte on the connection starts it, its end none

// Said of a connection that was reserved: nothing was started, because everybody sleeps or a mount has come; ask on a new one.
inline constexpr std::int32_t ask_anew = ESTALE;

// Of an exec: the first two descriptors are the pipes of run/init/protocol.h, the others the letter's.
inline constexpr unsigned status_at = 0;
inline constexpr unsigned control_at = 1;
inline constexpr unsigned first_letter_fd = 2;

struct State {
  std::uint32_t magic = keeper::magic;
  std::uint32_t suspended = 0;
  std::uint32_t execs = 0;   // running now
  std::uint32_t others = 0;  // left behind by commands that may do so
  std::uint32_t frozen = 0;  // suspended by the freezer; otherwise by SIGSTOP
  std::uint32_t unused = 0;
  std::uint64_t age_ms = 0;
  std::uint64_t idle_ms = 0;  // since the last command ended
};

// The head of a letter. Places count bytes from its beginning; 0 is nowhere. Lists of texts end with 0.
struct Letter {
  std::uint32_t bytes = 0;
  std::uint32_t before_count = 0;  // steps before what the template gives up
  std::uint32_t after_count = 0;   // … and after
  std::uint32_t candidate_count = 0;
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  std::uint64_t candidates = 0;
  std::uint64_t argv = 0;
  std::uint64_t shell_argv = 0;
  std::uint64_t envp = 0;
  // Only in the template.
  std::uint64_t idle_ms = 0;      // 0 = never
  std::uint64_t lifetime_ms = 0;  // 0 = no end
  std::int32_t ruleset_fd = -1;   // among its descriptors
  std::int32_t freezer_fd = -1;   // … where a group is frozen and thawed by a word
  std::int32_t members_fd = -1;   // … where a process gets into that group
  std::int32_t frozen_fd = -1;    // … where it is told whether everybody there is frozen
  Freezer freezer = Freezer::none;
  std::uint32_t unused = 0;
};

}  // namespace harn::run::keeper

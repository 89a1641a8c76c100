// SPDX-License-Identifier: Apache-2.0
// What the supervisor program is given when it starts: a few descriptors and one file with its duties and
// rules. It speaks to the launcher as the init program does (init/protocol.h); refusals go another way.
#pragma once

#include <cstdint>

namespace harn::run::supervisor {

inline constexpr int status_fd = 3;
inline constexpr int control_fd = 4;
inline constexpr int post_fd = 5;   // a socket: the command's process sends the listener, and its own number
inline constexpr int rules_fd = 6;  // a file: Duties, its rows of calls, the rules; see below
inline constexpr int tell_fd = 7;   // a socket; refusals are told here, where they are to be explained

// Beyond the rules. A call number of `refused` is answered with its error, one of `looked_at` goes on after a
// look; both are told when they fail. Everything else that is trapped is made on behalf, or refused.
struct Duties {
  std::uint32_t decides = 1;    // 0: other layers decide about every path
  std::uint32_t reads = 1;      // 0: … about what may be read, and whoever may reads by itself
  std::uint32_t tells = 0;      // what failed
  std::uint32_t records = 0;    // what worked too, and then the launcher is waited for
  std::uint32_t asks = 0;       // a file or socket that is refused waits until the launcher has answered
  std::uint32_t refused = 0;    // how many rows follow: {call, error}
  std::uint32_t looked_at = 0;  // … and how many numbers after them
  // After those, so many bytes: the paths of the sockets the command may reach, each with a closing zero.
  std::uint32_t sockets = 0;
  std::uint32_t abstract_names = 0;  // the kernel keeps those of others away
  // Where connections are led, and by which descriptor that is announced; ports 0 = to where they want to go.
  std::uint16_t stream_port = 0;
  std::uint16_t resolver_port = 0;
  std::int32_t announcements = -1;
};
struct RefusedCall {
  std::uint32_t number = 0;
  std::int32_t error = 0;
};

enum class Wanted : std::uint8_t {
  reading,
  writing,   // what is there
  making,    // a name that is not there
  removing,  // a name
  metadata,
  finding,  // only asked about
  running,
  reaching,  // `text` is an address as the kernel has it, or the path of a socket
  calling,   // no path: the call itself is refused
};

// One refusal: this, then `text_size` bytes, then `processes` rows from the caller up to the command.
struct Refusal {
  std::uint32_t number = 0;  // of the system call
  std::int32_t error = 0;    // positive; 0 = not known, it went on; `worked` = it did not fail
  Wanted wanted = Wanted::calling;
  std::uint8_t processes = 0;
  std::uint16_t text_size = 0;
  std::uint32_t lost = 0;  // told before and not taken
  std::uint64_t arguments[3] = {};
  std::uint64_t question = 0;  // the call waits for a Verdict with this number
};
inline constexpr std::int32_t worked = -1;
inline constexpr std::int32_t withdrawn = -2;  // nobody waits for the answer to `question` any more

// The launcher's word on a question, with one descriptor when it is yes: the file, or a connected socket.
struct Verdict {
  std::uint64_t question = 0;
  std::uint32_t allowed = 0;
  std::uint32_t unused = 0;
};
inline constexpr int most_asked = 64;  // at one time; the next is refused
struct ProcessRow {
  std::uint32_t id = 0;
  char name[16] = {};  // the kernel's short name, without a closing zero when it is full
};
inline constexpr int most_processes = 8;

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

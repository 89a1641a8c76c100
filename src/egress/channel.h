// SPDX-License-Identifier: Apache-2.0
// The socket between launcher and relay: gates come in, the report goes out, and its end is the end of
// the run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harn/result.h"
#include "sys/gates.h"
#include "sys/unique_fd.h"

namespace harn::egress {

struct ReceivedGate {
  sys::GateNote note = {};
  sys::UniqueFd socket = {};
};

// The word on a question; it comes without a descriptor, and so is told apart from gates.
struct HostVerdict {
  std::uint64_t question = 0;
  std::uint64_t allowed = 0;
};

// Whatever came in one message.
struct Message {
  bool none = false;   // nothing waits
  bool ended = false;  // nobody is at the other end any more
  std::string bytes = {};
  std::vector<sys::UniqueFd> descriptors = {};
};
// An error when it is longer than any of ours.
Result<Message> receive_message(int channel);
// Text and at most one descriptor.
Status send_message(int channel, std::string_view bytes, int descriptor = -1);

struct Received {
  bool ended = false;  // nobody is at the other end any more
  std::vector<ReceivedGate> gates = {};
  std::optional<HostVerdict> verdict = {};
};

// One message, or nothing when none waits. An error when it is none of ours.
Result<Received> receive_gates(int channel);
// The gates of a message that brought some.
Result<std::vector<ReceivedGate>> gates_in(Message message);
// All of them in one message.
Status send_gates(int channel, std::span<const ReceivedGate> gates);

Status send_verdict(int channel, const HostVerdict& verdict);

// One line of the report; waits for room.
Status send_line(int channel, std::string_view line);
// A line while the command runs; false when there is no room, because nobody waits for whoever does not read.
bool send_line_now(int channel, std::string_view line);

}  // namespace harn::egress

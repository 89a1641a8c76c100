// SPDX-License-Identifier: Apache-2.0
// What is said about each descriptor handed to a relay: sockets keep the network namespace they were
// made in, so a program outside can serve one inside.
#pragma once

#include <cstdint>

namespace harn::sys {

enum class GateKind : std::uint8_t {
  listener,   // inside: every address at one port
  dns,        // inside: UDP, every address at port 53
  dns_tcp,    // the same for TCP
  refused,    // inside: copies of packets to ports nobody serves
  inner,      // inside: a TCP socket not connected yet
  published,  // outside: a listener whose connections go to the same port inside
  // Where the command is on the host's network, and a supervisor leads its sockets here:
  announced,      // a listener; where each connection wanted to go is announced
  announcements,  // a socket by which that is said
  // Of a relay that stays with a session:
  control,  // a listener of its owner's (egress/control.h)
  life,     // readable when whoever it serves has ended; then it ends too
};

struct GateNote {
  GateKind kind = GateKind::listener;
  std::uint8_t protocol = 0;  // of `refused`: IPPROTO_TCP or IPPROTO_UDP
  std::uint8_t v6 = 0;        // of `refused`
  std::uint8_t unused = 0;
  std::uint16_t port = 0;
  std::uint16_t unused_too = 0;
};

inline constexpr unsigned most_gates_in_message = 64;
inline constexpr unsigned last_message_flag = 0x80000000;  // in the count that stands before the notes

}  // namespace harn::sys

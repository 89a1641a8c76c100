// SPDX-License-Identifier: Apache-2.0
// What a supervisor tells the relay where the command is on the host's own network: a socket of the command was led to the
// relay, and this is where it wanted to go.
#pragma once

#include <cstdint>

namespace harn::sys {

enum class AnnouncedKind : std::uint8_t {
  stream,    // connected to the relay's port for streams
  resolver,  // may ask the relay's resolver from now on
  refused,   // a datagram to anybody else, which went nowhere
};

struct Announcement {
  AnnouncedKind kind = AnnouncedKind::stream;
  std::uint8_t unused = 0;
  std::uint16_t from = 0;         // the socket's own port, on 127.0.0.1
  std::uint16_t port = 0;         // where it wanted to go
  std::uint8_t address[16] = {};  // IPv4 as ::ffff:a.b.c.d
};

}  // namespace harn::sys

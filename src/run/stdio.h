// SPDX-License-Identifier: Apache-2.0
// What the command gets as descriptors 0, 1 and 2. Pipes, terminals and stream sockets are handed
// over as they are; a file or anything else that could be opened again for more than it was opened
// for is relayed through a pipe, so that the command never holds it.
#pragma once

#include <termios.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "harn/result.h"
#include "harn/sandbox.h"
#include "sys/unique_fd.h"

namespace harn::run {

struct StdioRequest {
  std::array<Stream, 3> streams = {Stream::inherit, Stream::inherit, Stream::inherit};
  std::array<int, 3> inherited = {0, 1, 2};
  std::string input = {};     // with Stream::capture on 0
  bool count_output = false;  // an output limit needs every byte to pass through us
};

struct Stdio {
  std::array<int, 3> child = {0, 1, 2};          // what prepare() is told; borrowed from below or the caller
  std::array<sys::UniqueFd, 3> child_ends = {};  // closed once the child has them
  std::array<sys::UniqueFd, 3> our_ends = {};    // set where we relay, capture or feed
  std::array<Stream, 3> streams = {};
  std::array<int, 3> inherited = {0, 1, 2};
  std::string input = {};
  int terminal_fd = -1;            // the first of the three that is handed over and is a terminal
  termios terminal_settings = {};  // as they are before the command can change them
};

Result<Stdio> open_stdio(StdioRequest request);

}  // namespace harn::run

// SPDX-License-Identifier: Apache-2.0
// A way to the operator: a terminal, or somebody at the other end of a socket.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "ask/desk.h"

namespace harn::ask {

struct Heard {
  std::vector<std::pair<std::uint64_t, Said>> answers = {};
  bool gone = false;  // nobody will answer any more
};

struct Channel {
  int fd = -1;  // readable: listen
  std::function<void(const Question&)> show = {};
  std::function<void(const Question&, std::string_view why)> withdraw = {};
  std::function<Heard()> listen = {};
};

}  // namespace harn::ask

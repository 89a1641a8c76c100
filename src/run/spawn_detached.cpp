// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <signal.h>

#include "run/launch.h"
#include "run/replay_aside.h"

namespace harn::run {

class Detaching {
 public:
  static Result<pid_t> start(PreparedChild prepared) {
    auto& parts = *prepared.parts_;
    if (!parts.outer.steps().empty())
      return fail(Error{.code = ErrorCode::internal, .stage = Stage::spawn, .message = "who holds others cannot be let go of"});
    parts.outer.add({.op = child::Op::start_detached, .mask = 0}, "start a process of its own");
    parts.launch.outer = parts.outer.script();
    HARN_OK(replay_aside(parts, 0, child::replay_outer, "a process"));
    return parts.launch.detached_pid;
  }
};

Result<pid_t> spawn_detached(PreparedChild prepared) { return Detaching::start(std::move(prepared)); }

}  // namespace harn::run

// SPDX-License-Identifier: Apache-2.0
// What the supervisor program is given: its rules as a file, and a way to the command's process.
#pragma once

#include <cstdint>

#include "harn/plan.h"
#include "harn/result.h"
#include "run/launch.h"
#include "sys/unique_fd.h"

namespace harn::run {

struct SupervisorGifts {
  sys::UniqueFd post = {};       // the supervisor's end of a pair
  sys::UniqueFd letterbox = {};  // the end of the command's process, which sends its listener by it
  sys::UniqueFd rules = {};
  sys::UniqueFd tell = {};      // the supervisor's end, where it tells of refusals; empty = it does not
  sys::UniqueFd refusals = {};  // ours
};
Result<SupervisorGifts> make_gifts(const SupervisorPlan& plan, const SyscallFilter& filter, const RelayReach& relay);

// The command's own rules, and /proc: where the supervisor looks up whom it answers. `terminal`: also the one a view
// shows as /dev/console.
LandlockPlan supervisor_rules(LandlockPlan plan, bool terminal);

// A listener, and that a call once received waits for its answer whatever signal comes, where the kernel can.
std::uint64_t listener_flags();

}  // namespace harn::run

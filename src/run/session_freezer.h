// SPDX-License-Identifier: Apache-2.0
// A group in which a session sleeps. It is empty while the session is awake, and nobody is limited by it.
#pragma once

#include <optional>
#include <string>

#include "harn/path.h"
#include "harn/result.h"
#include "run/keeper/protocol.h"
#include "sys/unique_fd.h"

namespace harn::run {

struct FreezerPlace {
  keeper::Freezer kind = keeper::Freezer::none;
  AbsPath directory = {};
};

// Where this process may make one: version 2 before version 1, whose frozen processes cannot even be killed. Nothing is made
// yet. `avoid_v2`: commands are in groups of version 2 for their limits, and a process is in one group of it only.
std::optional<FreezerPlace> find_freezer_place(const std::string& name, bool avoid_v2, const AbsPath& proc = AbsPath::of("/proc"));

struct SessionFreezer {
  keeper::Freezer kind = keeper::Freezer::none;
  sys::UniqueFd state = {};    // takes the words that freeze and thaw
  sys::UniqueFd members = {};  // takes numbers of processes
  sys::UniqueFd frozen = {};   // tells whether they are
};

// Makes it and tries it on itself, without anybody in it; an error leaves nothing.
Result<SessionFreezer> make_session_freezer(const FreezerPlace& place);
// Whoever is still frozen in it goes on, or ends. False when it is still there after a while.
bool remove_session_freezer(const AbsPath& directory);

}  // namespace harn::run

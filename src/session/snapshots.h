// SPDX-License-Identifier: Apache-2.0
// The files of a session, kept and brought back: its root and the mounts made for it. What was mounted from
// somewhere else is not its own.
#pragma once

#include "session/record.h"

namespace harn::session {

// Everybody inside is stopped meanwhile. Without a name it gets one.
SandboxResult<SandboxSnapshot> take_snapshot(const Places& places, const std::string& id, const std::string& name);
SandboxResult<std::vector<SandboxSnapshot>> snapshots(const Places& places);
// Into a session whose root and mounts become what they were. Nothing may run in it. Where the root is somebody's project, what
// stood there is kept first, in the snapshot `kept`; empty when one has it already.
struct Restored {
  Record record = {};
  std::string kept = {};
};
SandboxResult<Restored> restore_snapshot(const Places& places, const std::string& snapshot, const std::string& id);
SandboxResult<void> remove_snapshot(const Places& places, const std::string& snapshot);

}  // namespace harn::session

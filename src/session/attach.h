// SPDX-License-Identifier: Apache-2.0
// Changing a session that lives: what is mounted in it, and whether it has a network.
#pragma once

#include "session/mounts.h"

namespace harn::session {

SandboxResult<Record> attach(const Places& places, const std::string& id, const FilesystemMount& mount, const MountGround& ground,
                             const embed::Environment& environment);

// Only what the session was made with can be had, or less. Nobody running keeps what is taken away.
SandboxResult<Record> change_network(const Places& places, const std::string& id, const NetworkPolicy& policy);

}  // namespace harn::session

// SPDX-License-Identifier: Apache-2.0
// Changing a session that lives: what is mounted in it.
#pragma once

#include "session/mounts.h"

namespace harn::session {

SandboxResult<Record> attach(const Places& places, const std::string& id, const FilesystemMount& mount, const MountGround& ground,
                             const embed::Environment& environment);

}  // namespace harn::session

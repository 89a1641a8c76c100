// SPDX-License-Identifier: Apache-2.0
// What may be mounted where.
#pragma once

#include "session/record.h"

namespace harn::session {

struct MountGround {
  const Places& places;
  const HostFacts& facts;
  AbsPath own_state = {};  // Harn's own directory: records, audit log
};

// Targets are no system directories, and none lies in another. Sources exist, and hand out nothing that a policy
// would not: no system, no home, no credentials, no sockets. An empty source becomes a directory of the session's.
SandboxResult<Shown> resolve_mount(const FilesystemMount& mount, const std::string& id, const std::vector<Shown>& others,
                                   const MountGround& ground);

// As members of a policy and as guests of a plan.
void grant(const std::vector<Shown>& mounts, Policy& policy);
std::vector<GuestMount> guests_of(const std::vector<Shown>& mounts);
// HARN_MEMORY_DIR and HARN_OUTPUTS_DIR, where a command finds them.
void name_mounts(const std::vector<Shown>& mounts, bool guest_paths, Policy& policy);

}  // namespace harn::session

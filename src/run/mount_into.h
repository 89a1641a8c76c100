// SPDX-License-Identifier: Apache-2.0
// Mounts something of the host into a view that exists. Nobody inside can: it takes the owner of the namespaces,
// from outside, and what is made on the way is never open to those inside.
#pragma once

#include "run/kept.h"

namespace harn::run {

struct MountInto {
  AbsPath directory = {};                // of the keeper's socket
  std::vector<MountStep> steps = {};     // binds alone; the first is the new place, the others lie beneath it
  std::vector<LandlockRule> rules = {};  // for commands started from now on
};
Status mount_into(const MountInto& request);

}  // namespace harn::run

// SPDX-License-Identifier: Apache-2.0
// The path rules of a policy as mounts of a container. A container brings its own system, so presets,
// PATH entries and devices are not mounted: only what the policy itself names, at the same paths.
#pragma once

#include <vector>

#include "plan/lower.h"

namespace harn::plan {

struct ContainerMounts {
  // bind, bind_read: the host path. hide: nothing there. tmpfs: nothing there but what is mounted
  // beneath. Sorted by target, so a mount stands before those inside it.
  std::vector<MountStep> steps = {};
  std::vector<AbsPath> absent = {};  // closed names that do not exist inside a writable mount
  std::vector<AbsPath> links = {};   // at or above a closed name inside a writable mount
};

// The policy's rules for a container: what the command would see without any preset.
PathRules container_rules(Policy policy, const HostFacts& facts);

// `input.rules` from container_rules(). Fails for what must not be mounted: the root, system
// directories, directories holding a daemon's socket.
Result<ContainerMounts> container_mounts(const PlanInput& input);

}  // namespace harn::plan

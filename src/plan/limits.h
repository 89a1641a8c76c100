// SPDX-License-Identifier: Apache-2.0
// Limits to mechanisms: rlimits, cgroup values, watched quantities.
#pragma once

#include "harn/plan.h"

namespace harn::plan {

// Fills plan.limits and the dimensions memory, cpu, processes, file_size, wall_time for a backend
// that runs the command as our own child on a POSIX host (linux, bubblewrap, firejail, macos, openbsd).
// plan.confinement must be complete: a view with a user namespace counts its own processes.
void lower_posix_limits(const Policy& policy, const HostFacts& facts, Plan& plan);

}  // namespace harn::plan

// SPDX-License-Identifier: Apache-2.0
// Ending what lives in a cgroup directory and removing it: for one's own run, and for what dead runs
// left behind.
#pragma once

#include <string>
#include <string_view>

#include "harn/path.h"

namespace harn::run {

// The directory of a run. No other program makes such names, so that a sweep cannot meet a stranger's.
std::string cgroup_name(std::string_view run_id);

// Signals everybody once. True when nobody was there.
bool kill_members(const AbsPath& directory);

// Ends whoever is there and removes the directory; false when it is still there after a while.
bool remove_cgroup(const AbsPath& directory);

// Directories of runs beneath `parent` whose owner no longer holds its lock.
void sweep_dead_runs(const AbsPath& parent);

}  // namespace harn::run

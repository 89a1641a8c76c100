// SPDX-License-Identifier: Apache-2.0
// Limits for everybody in a session together: a group that outlives whoever made it. Groups of single commands are made in it, so that both
// limits hold.
#pragma once

#include <map>
#include <string>

#include "harn/result.h"
#include "sys/cgroup_places.h"

namespace harn::run {

// Where the groups of a session are, one for each controller that its values need. Nothing is made yet.
Result<sys::CgroupPlaces> session_cgroup_places(const sys::CgroupPlaces& own, const std::string& name,
                                                const std::map<std::string, std::string>& values);

// An error names the file, and the caller removes what is there.
Status make_session_cgroup(const sys::CgroupPlaces& groups, const std::map<std::string, std::string>& values);
// Everybody it starts later is in it too.
Status join_session_cgroup(const sys::CgroupPlaces& groups, pid_t pid);
// Ends whoever is left; false when a group is still there after a while.
bool remove_session_cgroup(const sys::CgroupPlaces& groups);

}  // namespace harn::run

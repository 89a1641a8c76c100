// SPDX-License-Identifier: Apache-2.0
// Path rules as entries in Windows access control lists. A container only ever has what some entry
// grants it: a deny entry for the container's own SID is ignored by the kernel's lowbox check. So less
// inside more is expressed by stopping inheritance at the inner path, never by denying.
#pragma once

#include <vector>

#include "plan/lower.h"

namespace harn::plan {

struct AclList {
  std::vector<AclGrant> grants = {};          // sorted by path; where inheritance stops, that comes first
  std::vector<AbsPath> unguarded_names = {};  // absent names inside writable paths: they cannot carry an entry
  std::vector<AbsPath> unhidden_names = {};   // absent names that would be readable if they were created
  std::vector<AbsPath> movable = {};          // guarded, but a directory on the way to them can be moved away
};

AclList acl_list(const PlanInput& input);

}  // namespace harn::plan

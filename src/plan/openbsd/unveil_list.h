// SPDX-License-Identifier: Apache-2.0
// Path rules as unveil(2) calls. The nearest unveiled directory decides, exactly as the nearest rule
// does; what unveil cannot hold is named path by path.
#pragma once

#include <vector>

#include "plan/lower.h"

namespace harn::plan {

struct UnveilList {
  std::vector<Unveil> unveils = {};           // sorted by path
  std::vector<AbsPath> writable = {};         // what the command may change, without devices
  std::vector<AbsPath> unguarded_names = {};  // absent names that can be created although they should not
  std::vector<AbsPath> unhidden_names = {};   // absent names that would be readable if they were created
  std::vector<AbsPath> movable = {};          // guarded, but a directory on the way to them can be moved away
  std::vector<AbsPath> linkable = {};         // read-only files that can get a second, writable name
};

// not_supported when the kernel's table cannot hold the list.
Result<UnveilList> unveil_list(const PlanInput& input);

}  // namespace harn::plan

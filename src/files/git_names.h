// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harn/path.h"

namespace harn::files {

// Whether git outside runs what the file names, or follows it elsewhere: hooks, configuration and pointers
// of a repository, of its submodules and of its other work trees.
bool is_trusted_by_git(const AbsPath& path);

}  // namespace harn::files

// SPDX-License-Identifier: Apache-2.0
// A whole tree once more, for commands to work on where no layer can lie over the original.
#pragma once

#include "workspace/state.h"

namespace harn::workspace {

// Into a directory that is there and empty. Sockets and devices are left out; links stay links.
Status copy_tree(const AbsPath& from, const AbsPath& to);

}  // namespace harn::workspace

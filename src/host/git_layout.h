// SPDX-License-Identifier: Apache-2.0
// Git directories outside a working tree, found without running git: a repository's configuration
// can make git execute programs.
#pragma once

#include <optional>
#include <string>

#include "harn/host.h"

namespace harn::host {

struct GitFinding {
  std::optional<GitLayout> layout = {};
  std::string note = {};  // why a pointer was not believed; empty when there is nothing to say
};

// The work tree may have been written by a confined command, so its .git file is only a claim. It is
// believed when the git directory it names points back to this very .git file and lies in its
// common directory's worktrees/: both can be written only by somebody who owns that repository.
GitFinding find_git_layout(const AbsPath& work_tree);

}  // namespace harn::host

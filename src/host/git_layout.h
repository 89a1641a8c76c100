// SPDX-License-Identifier: Apache-2.0
// Git directories outside a working tree, found without running git: a repository's configuration
// can make git execute programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

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

// A directory inside a writable root that is the top of a repository, if it is one: git on the host obeys
// its hooks and configuration as it does the root's own. Such a layout opens nothing (both directories
// are the same one), so that its .git needs no proof.
std::optional<GitLayout> find_nested_repository(const AbsPath& directory);

// What git outside follows beneath a repository's own directory, which the command may write: hooks,
// configuration and pointers of its submodules and of its other work trees. Where there are too many to name, the
// whole place they lie in.
std::vector<AbsPath> trusted_beneath(const AbsPath& git_dir);

}  // namespace harn::host

// SPDX-License-Identifier: Apache-2.0
// The directory of a file that is to be written, reached without a link that a command could have made. What an embedder or a verb
// keeps for its caller must not end up where an earlier command wanted it.
#pragma once

#include "harn/path.h"
#include "harn/result.h"
#include "sys/unique_fd.h"

namespace harn::sys {

struct UnplantedParent {
  UniqueFd directory = {};  // held while it was looked at: what happens to its name afterwards does not matter
  AbsPath path = {};        // links resolved
};

// Links of the system are followed: those that stand in the root directory, and for whoever is not root those in a directory that
// only root may write. Any other link on the way is a refusal; `what` names the file in it ("the tape").
Result<UnplantedParent> hold_unplanted_parent(const AbsPath& file, std::string_view what);

}  // namespace harn::sys

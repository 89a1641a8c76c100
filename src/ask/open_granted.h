// SPDX-License-Identifier: Apache-2.0
// What a yes means: the file or socket itself, opened outside by exactly the path that was shown.
#pragma once

#include <cstdint>

#include "harn/outcome.h"
#include "harn/path.h"
#include "sys/unique_fd.h"

namespace harn::ask {

// A regular file, no link on the way; empty when it is not that any more. Flags as the call had them. For a look, a
// descriptor that opens nothing.
sys::UniqueFd open_granted(const AbsPath& path, const Refused& asked);
// The socket at a path, no link on the way, so that it stays the one that was asked about; empty when there is none.
sys::UniqueFd hold_socket(const AbsPath& path);
// A stream connected to the socket that is held. Nobody is waited for.
sys::UniqueFd connect_granted(int held);

// Of open, openat and creat.
std::uint64_t flags_of(const Refused& asked);

}  // namespace harn::ask

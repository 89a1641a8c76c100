// SPDX-License-Identifier: Apache-2.0
// What the kernel answers can only be known by trying; nothing here leaves a trace.
#pragma once

#include "harn/path.h"

namespace harn::sys {

// pidfd_getfd, of our own process: Linux 5.6, and refused by the filters of some containers.
bool can_copy_descriptors();

// A socket at this path takes datagrams. Nothing is sent, and whoever listens does not notice.
bool takes_datagrams(const AbsPath& socket);

}  // namespace harn::sys

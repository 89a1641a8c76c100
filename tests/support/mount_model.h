// SPDX-License-Identifier: Apache-2.0
// What an ordered list of mounts means, worked out from the kernel's rules and not from the planner:
// a host object is reachable where some bind shows it and no later step covers that place.
#pragma once

#include <string>
#include <vector>

#include "harn/plan.h"

namespace harn::test {

// The most a process in the view can do to the host object at this (link-free) path.
Access mount_access(const View& view, const AbsPath& path);

// The same as an answer: what is mounted on cannot be removed.
bool mount_allows(const View& view, const AbsPath& path, FileOp op);

// True when the name cannot be unlinked or renamed inside the view, because something is mounted on it.
bool is_mount_point(const View& view, const AbsPath& path);

// Every step that could not be carried out, or only by creating something on the host: empty = sound.
std::vector<std::string> mount_faults(const View& view, const HostFacts& facts);

// Protected or hidden places inside a writable bind that a rename above them would set free.
std::vector<AbsPath> unpinned_places(const View& view);

}  // namespace harn::test

// SPDX-License-Identifier: Apache-2.0
// One path, its symbolic links resolved.
#pragma once

#include <vector>

#include "harn/host.h"
#include "harn/path.h"
#include "harn/result.h"
#include "sys/files.h"

namespace harn::host {

// Links resolved as far as the path exists; the missing rest is appended as it stands, so that a
// name that will appear later already has its one spelling. A link into nothing stays a name.
Result<AbsPath> resolve_existing(const AbsPath& path);

// The same for the directories above only: the last name stays.
Result<AbsPath> resolve_parent(const AbsPath& path);

// How a path is reached: who can replace one of the links decides where it leads.
struct Way {
  std::vector<AbsPath> links = {};  // every link on it, by where the link itself really stands
  AbsPath end = {};                 // every link followed, also one into nothing
};
Result<Way> way_to(const AbsPath& path);

// The end of that way: where a file written at the path would end up.
Result<AbsPath> resolve_links(const AbsPath& path);

PathKind kind_from(sys::FileType type);

// What is at the path, and where it leads when its spelling goes through a link.
PathFact look_at(const AbsPath& path);

}  // namespace harn::host

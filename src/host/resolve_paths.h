// SPDX-License-Identifier: Apache-2.0
// One path, its symbolic links resolved.
#pragma once

#include "harn/host.h"
#include "harn/path.h"
#include "harn/result.h"

namespace harn::host {

// Links resolved as far as the path exists; the missing rest is appended as it stands, so that a
// name that will appear later already has its one spelling. A link into nothing stays a name.
Result<AbsPath> resolve_existing(const AbsPath& path);

// The same for the directories above only: the last name stays.
Result<AbsPath> resolve_parent(const AbsPath& path);

// Every link followed, also one into nothing: where a file written at the path would end up.
Result<AbsPath> resolve_links(const AbsPath& path);

// What is at the path, and where it leads when its spelling goes through a link.
PathFact look_at(const AbsPath& path);

}  // namespace harn::host

// SPDX-License-Identifier: Apache-2.0
// Files of a session that no crash of the machine can leave anything useful in, because the session ends with it: replaced
// in one step like every other, but nobody waits for the disk.
#pragma once

#include <string_view>

#include "harn/path.h"
#include "harn/result.h"

namespace harn::session {

Status replace_short_lived(const AbsPath& path, std::string_view text);

}  // namespace harn::session

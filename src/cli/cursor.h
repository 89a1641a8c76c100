// SPDX-License-Identifier: Apache-2.0
// How far a tape was played, between calls of `harn replay`: a small file of the user's own.
#pragma once

#include "harn/tape.h"

namespace harn::cli {

// Takes over what earlier calls played. A missing file means nothing was; one of another tape is an error.
Status read_cursor(const AbsPath& file, Replay& replay);
Status keep_cursor(const AbsPath& file, const Replay& replay);

}  // namespace harn::cli

// SPDX-License-Identifier: Apache-2.0
// Where an open file really is.
#pragma once

#include <string_view>

#include "harn/path.h"
#include "harn/result.h"

namespace harn::sys {

// `file` is a HANDLE; `about` names it in errors. A place on another machine has no AbsPath and is an error.
Result<AbsPath> final_path(void* file, std::string_view about);

}  // namespace harn::sys

// SPDX-License-Identifier: Apache-2.0
// What is given to a runtime of modules must be one: some of them would also run native code compiled ahead of time.
#pragma once

#include "harn/path.h"
#include "harn/result.h"

namespace harn::sandbox {

Status check_module(const AbsPath& file);

}  // namespace harn::sandbox

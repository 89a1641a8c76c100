// SPDX-License-Identifier: Apache-2.0
// The files that decide about the next run: the confined side must not be able to write them.
#pragma once

#include "cli/prepare.h"

namespace harn::cli {

// An error when the command could change one of them, or create one that does not exist yet.
Status check_own_files(const Arguments& arguments, const Prepared& prepared, const Caller& caller);

}  // namespace harn::cli

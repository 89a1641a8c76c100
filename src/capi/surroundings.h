// SPDX-License-Identifier: Apache-2.0
// The process around the library, looked at and left alone.
#pragma once

#include "harn/embed.h"

namespace harn::capi {

std::map<std::string, std::string> own_environment();
Result<AbsPath> own_directory();

}  // namespace harn::capi

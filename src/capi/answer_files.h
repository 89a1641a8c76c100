// SPDX-License-Identifier: Apache-2.0
// One file operation that arrived over the C ABI, done and answered.
#pragma once

#include <string>

#include "capi/requests.h"

namespace harn::capi {

Result<std::string> answer_file(const FileScope& files, const FileRequest& request);

}  // namespace harn::capi

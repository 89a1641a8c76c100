// SPDX-License-Identifier: Apache-2.0
// Text files people keep for Harn, where there are no descriptors.
#pragma once

#include <optional>
#include <string>

#include "harn/path.h"
#include "harn/result.h"

namespace harn::host {

Result<std::string> read_text(const AbsPath& path, std::size_t max_bytes);
// Nothing when the file is missing; unreadable is still an error.
Result<std::optional<std::string>> text_if_present(const AbsPath& path, std::size_t max_bytes);

}  // namespace harn::host

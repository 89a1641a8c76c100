// SPDX-License-Identifier: Apache-2.0
// Windows speaks UTF-16, everything else here UTF-8. What is not valid in one has no spelling in the other: an error, never
// a replacement character, because a path or a name that changes on the way is another one.
#pragma once

#include <string>
#include <string_view>

#include "harn/result.h"

namespace harn::base {

Result<std::u16string> to_utf16(std::string_view text);
Result<std::string> to_utf8(std::u16string_view text);

}  // namespace harn::base

// SPDX-License-Identifier: Apache-2.0
// Remembers what people were told, so that the same small gap is named once per boot and project and not
// before every command. Receipts name it every time.
#pragma once

#include <string_view>

#include "cli/args.h"

namespace harn::cli {

// True the first time since boot that `text` is to be told about `subject`. When it cannot be
// remembered it is told again.
bool is_news(const Caller& caller, std::string_view subject, std::string_view text);

}  // namespace harn::cli

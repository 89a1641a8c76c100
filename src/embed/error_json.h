// SPDX-License-Identifier: Apache-2.0
// Errors as JSON, the same from every face.
#pragma once

#include "base/value.h"

namespace harn::embed {

base::Value error_value(const Error& error);  // {code, category, stage, message, hint, where}

}  // namespace harn::embed

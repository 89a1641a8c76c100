// SPDX-License-Identifier: Apache-2.0
// JSON text to Value and back. Strict: duplicate keys, invalid UTF-8, numbers beyond 64 bits,
// nesting past the limit and trailing text are errors that name line and column.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/value.h"

namespace harn::base {

inline constexpr int max_json_depth = 64;

Result<Value> parse_json(std::string_view text, std::string_view file_name = {});

// indent < 0: one line. Members in the order they were set.
std::string print_json(const Value& value, int indent = -1);
// The same text piece by piece, so that a long one is never in memory as a whole.
void print_json(const Value& value, int indent, const std::function<void(std::string_view)>& sink);

// Sorted members, no spaces, ASCII only: the form that is hashed.
std::string canonical_json(const Value& value);

}  // namespace harn::base

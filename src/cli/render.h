// SPDX-License-Identifier: Apache-2.0
// Text for people: wrapping, colour, and errors in their two forms.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/value.h"
#include "harn/plan.h"
#include "harn/policy.h"
#include "harn/result.h"

namespace harn::cli {

// Lines of at most `width` columns, broken at spaces; a longer word stays whole. At least one line.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

enum class Colour : std::uint8_t {
  green,
  yellow,
  red,
  bold
};

// Plain text unless `wanted`.
std::string coloured(std::string_view text, Colour colour, bool wanted);

// "harn: <sentence>" and, where there is one, "  hint: …" on the next line.
std::string error_text(const Error& error);

// {"error": {code, stage, message, hint, where}}
base::Value error_value(const Error& error);
std::string error_json(const Error& error);  // {"error": …}

// The dimensions of this status, by name.
std::vector<std::string_view> names_with(const Coverage& coverage, Enforcement status);

// What a narrowing did, without saying who: "read_only_roots loses /data".
std::string narrowing_text(const NarrowingItem& item);

// 125 for what was refused or cannot be had, 2 for what was said wrongly.
int exit_code_of(const Error& error);

// For verbs whose exit code is the command's: 127 not found, 126 not executable, else 125.
int exit_code_instead_of_command(const Error& error);

}  // namespace harn::cli

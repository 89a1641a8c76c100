// SPDX-License-Identifier: Apache-2.0
// A Windows program gets one line, not words, and splits it itself: nearly all by the rules of CommandLineToArgvW. These
// functions write the line that gives exactly the words back, and refuse words no line can carry.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "harn/result.h"

namespace harn::run::windows {

// For programs. The first word is the program's name, for which the rules differ: it cannot hold a quote.
Result<std::string> command_line(std::span<const std::string> argv);

// Batch files are run by cmd.exe, which reads the line by rules of its own before the file does: a quote ends quoting, and
// %NAME% is replaced even inside quotes. Words with such characters are refused instead of being handed over changed.
bool is_batch_file(std::string_view program);
Result<std::string> batch_command_line(std::string_view interpreter, std::string_view script, std::span<const std::string> arguments);

}  // namespace harn::run::windows

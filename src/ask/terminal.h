// SPDX-License-Identifier: Apache-2.0
// An operator at the terminal. The command does not hold it, its output waits while a question is open, and an answer
// counts only with the number shown beside the question: what a command makes a terminal send back knows none.
#pragma once

#include <string>

#include "ask/channel.h"
#include "harn/result.h"

namespace harn::ask {

Result<Channel> open_terminal();

// What is shown; whatever a path is called, it is one line that moves nothing.
std::string prompt_of(const Question& question, std::string_view number);
// "r4821" or "r 4821"; nothing for any other line.
std::optional<Said> read_reply(std::string_view line, std::string_view number);

}  // namespace harn::ask

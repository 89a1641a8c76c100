// SPDX-License-Identifier: Apache-2.0
// Questions and answers as lines of JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ask/desk.h"

namespace harn::ask {

struct Hello {
  std::string run_id = {};
  std::vector<std::string> argv = {};
  std::string cwd = {};
};
std::string hello_line(const Hello& hello);
std::string question_line(const Question& question);
std::string withdrawn_line(const Question& question, std::string_view why);

// {"id": 3, "answer": "once" | "run" | "policy" | "deny", "lasts_ms": 60000}; nothing when it is not exactly that.
std::optional<std::pair<std::uint64_t, Said>> read_answer(std::string_view line);

// "once" …
std::string_view text_of(Word word);

}  // namespace harn::ask

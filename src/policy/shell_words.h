// SPDX-License-Identifier: Apache-2.0
// A command line as simple commands of words, quotes and escapes undone: enough of the shell's
// grammar to compare words. Expansions are not performed; this is no security boundary.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace harn::policy {

using SimpleCommand = std::vector<std::string>;

// Commands end at ; & | newline, parentheses, backquotes and $(…), also inside double quotes.
// Redirections end a word, comments are skipped, an unclosed quote runs to the end.
std::vector<SimpleCommand> split_shell(std::string_view text);

}  // namespace harn::policy

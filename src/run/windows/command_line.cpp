// SPDX-License-Identifier: Apache-2.0
#include "run/windows/command_line.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "base/utf16.h"

namespace harn::run::windows {
namespace {

constexpr std::size_t longest_line = 32767;       // UTF-16 units, the end included
constexpr std::size_t longest_batch_line = 8191;  // what cmd.exe reads

std::unexpected<Error> wrong(std::string message, std::string hint) {
  return fail(Error{.code = ErrorCode::invalid_command, .stage = Stage::prepare, .message = std::move(message), .hint = std::move(hint)});
}

// Backslashes mean themselves, except before a quote: there two are one, and an odd one makes the quote a letter.
std::string quoted_argument(std::string_view word) {
  if (!word.empty() && word.find_first_of(" \t\n\v\r\"") == std::string_view::npos) return std::string(word);
  std::string out = "\"";
  std::size_t backslashes = 0;
  for (const char c : word) {
    if (c == '\\') {
      ++backslashes;
    } else {
      if (c == '"') out.append(backslashes + 1, '\\');
      backslashes = 0;
    }
    out += c;
  }
  out.append(backslashes, '\\');
  return out += '"';
}

Result<std::string> short_enough(std::string line, std::size_t most) {
  HARN_TRY(wide, base::to_utf16(line));
  if (wide.size() < most) return line;
  return wrong(fmt::format("the command line has {} characters, and Windows takes {}", wide.size(), most - 1), "pass long lists in a file");
}

Status check_words(std::span<const std::string> words) {
  for (const auto& word : words)
    if (word.find('\0') != std::string::npos) return wrong("the argument " + base::quoted(word) + " contains a NUL byte", "remove it");
  return {};
}

}  // namespace

Result<std::string> command_line(std::span<const std::string> argv) {
  if (argv.empty() || argv.front().empty()) return wrong("the command is empty", "name a program after --");
  HARN_OK(check_words(argv));
  const auto& program = argv.front();
  if (program.find('"') != std::string::npos)
    return wrong("the program's name " + base::quoted(program) + " contains a quote", "no file of Windows has one in its name");
  std::string line = "\"" + program + "\"";
  for (const auto& word : argv.subspan(1)) line += " " + quoted_argument(word);
  return short_enough(std::move(line), longest_line);
}

bool is_batch_file(std::string_view program) {
  // Windows drops blanks and dots at the end of a name before it looks for its kind.
  while (!program.empty() && (program.back() == ' ' || program.back() == '.')) program.remove_suffix(1);
  const auto lower = base::lower_ascii(program);
  return lower.ends_with(".bat") || lower.ends_with(".cmd");
}

Result<std::string> batch_command_line(std::string_view interpreter, std::string_view script, std::span<const std::string> arguments) {
  HARN_OK(check_words(arguments));
  // /d: no commands from the registry first. /v:off: no !NAME!. /s: the outer quotes are dropped, everything between them counts.
  std::string line = fmt::format("\"{}\" /d /v:off /e:on /s /c \"\"{}\"", interpreter, script);
  std::vector<std::string> words{std::string(script)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  for (const auto& word : words)
    if (const auto at = word.find_first_of("\"%\r\n"); at != std::string::npos)
      return wrong(fmt::format("{} goes to a batch file, and contains {}, which cmd.exe would not hand on unchanged", base::quoted(word),
                               base::quoted(word.substr(at, 1))),
                   "call the program the batch file starts");
  for (const auto& word : arguments) {
    line += " \"" + word;
    // A program that the batch file hands it to would take the last backslash for the quote's.
    line.append(word.size() - std::min(word.size(), word.find_last_not_of('\\') + 1), '\\');
    line += '"';
  }
  return short_enough(line + "\"", longest_batch_line);
}

}  // namespace harn::run::windows

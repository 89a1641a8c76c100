// SPDX-License-Identifier: Apache-2.0
// Words are compared after the quoting is undone, so that "nc" leaves rsync alone and c''url is
// still curl. Whoever wants past this check gets past it; the kernel is the boundary.
#include "policy/blocked_commands.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "policy/shell_words.h"

namespace harn::policy {
namespace {

// `sh -c` inside `sh -c`: deeper nesting than this is not a mistake, and mistakes are all we catch.
constexpr int max_script_depth = 4;

constexpr std::array<std::string_view, 6> shells{"sh", "bash", "dash", "ash", "zsh", "ksh"};

// Words after which a command word still follows.
constexpr std::array<std::string_view, 24> prefixes{"sudo", "doas",    "env",    "command", "builtin", "exec",    "nohup", "nice",
                                                    "time", "timeout", "setsid", "stdbuf",  "xargs",   "busybox", "then",  "do",
                                                    "else", "elif",    "if",     "while",   "until",   "!",       "{",     "coproc"};

template <std::size_t N>
bool among(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string collapse_spaces(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool space = c == ' ' || (c >= '\t' && c <= '\r');
    if (!space) out += c;
    else if (!out.empty() && out.back() != ' ') out += ' ';
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

// One word that the shell would not take apart.
bool is_plain_word(std::string_view entry) { return entry.find_first_of(" ;&|()<>$`\"'\\*?[]{}#~!\n") == std::string_view::npos; }

std::string_view base_name(std::string_view word) { return word.substr(word.rfind('/') + 1); }

bool is_assignment(std::string_view word) {
  const auto equals = word.find('=');
  return equals != std::string_view::npos && equals > 0 && word.find('/') > equals;
}

bool is_number(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

// Index of the word that names the program; size() when there is none.
std::size_t program_index(const SimpleCommand& command) {
  std::size_t i = 0;
  bool prefixed = false;
  while (i < command.size()) {
    const std::string& word = command[i];
    const bool option = prefixed && (word.starts_with('-') || is_number(word));
    if (among(prefixes, base_name(word))) prefixed = true;
    else if (!option && !is_assignment(word)) break;
    ++i;
  }
  return i;
}

// The script of `sh -c SCRIPT` or `eval WORDS`; empty when the command runs none.
std::string nested_script(const SimpleCommand& command, std::size_t program) {
  if (program >= command.size()) return {};
  const auto name = base_name(command[program]);
  std::string script;
  if (name == "eval")
    for (std::size_t i = program + 1; i < command.size(); ++i) (script += command[i]) += ' ';
  if (!among(shells, name)) return script;
  for (std::size_t i = program + 1; i + 1 < command.size() && command[i].starts_with('-'); ++i)
    if (!command[i].starts_with("--") && command[i].find('c') != std::string::npos) return command[i + 1];
  return {};
}

// Everything the entries are compared with.
struct Seen {
  std::set<std::string> words = {};
  std::vector<std::string> texts = {};  // for substrings: as typed, and with the quoting undone
};

void look_at(std::string_view text, int depth, Seen& seen) {
  seen.texts.push_back(collapse_spaces(text));
  for (const SimpleCommand& command : split_shell(text)) {
    const std::size_t program = program_index(command);
    seen.words.insert(command.begin(), command.end());
    // Prefix words are commands too: /usr/bin/sudo is sudo.
    for (std::size_t i = 0; i <= program && i < command.size(); ++i) seen.words.emplace(base_name(command[i]));
    seen.texts.push_back(collapse_spaces(fmt::format("{}", fmt::join(command, " "))));
    const std::string script = nested_script(command, program);
    if (!script.empty() && depth < max_script_depth) look_at(script, depth + 1, seen);
  }
}

bool blocks(const std::string& entry, const Seen& seen) {
  if (is_plain_word(entry)) return seen.words.contains(entry);
  return std::any_of(seen.texts.begin(), seen.texts.end(), [&](const std::string& text) { return text.find(entry) != std::string::npos; });
}

}  // namespace

std::optional<std::string> validate_command(const std::set<std::string>& blocked, std::string_view command) {
  if (blocked.empty()) return std::nullopt;
  Seen seen;
  look_at(command, 0, seen);
  for (const std::string& written : blocked) {
    const std::string entry = collapse_spaces(written);
    if (!entry.empty() && blocks(entry, seen)) return fmt::format("Command blocked by sandbox policy: contains '{}'", entry);
  }
  return std::nullopt;
}

}  // namespace harn::policy

// SPDX-License-Identifier: Apache-2.0
// For tests: words from a line by the documented rules of CommandLineToArgvW, written apart from the code that quotes. Under
// Windows the same lines are given to the function itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace harn::run::windows {

inline std::vector<std::string> split_line(std::string_view line) {
  std::vector<std::string> words;
  std::size_t i = 0;
  // The first word knows no escapes.
  if (!line.empty() && line[0] == '"') {
    const auto end = line.find('"', 1);
    words.emplace_back(line.substr(1, end - 1));
    i = end + 1;
  } else {
    i = std::min(line.find_first_of(" \t"), line.size());
    words.emplace_back(line.substr(0, i));
  }
  bool in_word = false;
  bool quoted = false;
  std::string word;
  while (i < line.size()) {
    const char c = line[i];
    if (!quoted && (c == ' ' || c == '\t')) {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
      ++i;
      continue;
    }
    in_word = true;
    std::size_t slashes = 0;
    while (i < line.size() && line[i] == '\\') ++slashes, ++i;
    const bool before_quote = i < line.size() && line[i] == '"';
    word.append(before_quote ? slashes / 2 : slashes, '\\');
    if (before_quote) {
      if (slashes % 2 == 1) word += '"';
      else quoted = !quoted;
      ++i;
    } else if (slashes == 0) {
      word += line[i++];
    }
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

// A few thousand argument lists of the characters that make quoting hard, the same every time.
inline std::vector<std::vector<std::string>> hard_arguments() {
  static constexpr std::string_view letters = "\\\"\\\" \ta%^&!'\n";
  std::vector<std::vector<std::string>> out;
  unsigned state = 12345;
  const auto next = [&](std::size_t limit) { return (state = state * 1664525u + 1013904223u, (state >> 16) % limit); };
  for (int list = 0; list < 3000; ++list) {
    std::vector<std::string> words{list % 2 == 0 ? "C:\\Program Files\\x.exe" : "tool"};
    const auto count = next(4);
    for (std::size_t n = 0; n < count; ++n) {
      std::string word;
      const auto length = next(7);
      for (std::size_t l = 0; l < length; ++l) word += letters[next(letters.size())];
      words.push_back(std::move(word));
    }
    out.push_back(std::move(words));
  }
  return out;
}

}  // namespace harn::run::windows

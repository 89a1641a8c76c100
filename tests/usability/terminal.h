// SPDX-License-Identifier: Apache-2.0
// A person's terminal: what is typed, what appears, its size and settings.
#pragma once

#include <termios.h>

#include "usability/person.h"

namespace harn::test {

class Terminal {
 public:
  // Starts the words as the person's program that owns the terminal.
  Terminal(const Person& person, const std::vector<std::string>& words);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(std::string_view text) const;
  // Reads until the text appears after what was awaited before; false when it never does.
  bool await_text(std::string_view text);
  void resize(unsigned short rows, unsigned short columns) const;
  termios settings() const;
  // The exit code as in Finished.
  int finish();
  const std::string& seen() const { return seen_; }

 private:
  bool read_more(int patience_ms);

  sys::UniqueFd screen_ = {};
  pid_t pid_ = -1;
  std::string seen_ = {};
  std::size_t awaited_ = 0;
};

}  // namespace harn::test

// SPDX-License-Identifier: Apache-2.0
// The caller's terminal while a command has its foreground: lent, taken back, and left as it was.
#pragma once

#include <sys/types.h>
#include <termios.h>

namespace harn::run {

// Whether this process may hand the terminal on.
bool in_foreground(int fd);

class TerminalLoan {
 public:
  TerminalLoan() = default;
  explicit TerminalLoan(int fd);  // borrowed; remembers settings before the command changes them
  TerminalLoan(const TerminalLoan&) = delete;
  TerminalLoan& operator=(const TerminalLoan&) = delete;
  ~TerminalLoan();  // takes the foreground back

  // The command was stopped: stop with it, and give the terminal back when somebody continues us.
  void stop_along();
  // The command did not get to put its settings back.
  void restore_settings();
  void take_back() const;

 private:
  int fd_ = -1;
  termios before_ = {};
};

}  // namespace harn::run

// SPDX-License-Identifier: Apache-2.0
// The caller's terminal while a command has its foreground: lent, taken back, and left as it was.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <optional>

namespace harn::run {

// Whether this process may hand the terminal on.
bool in_foreground(int fd);

class TerminalLoan {
 public:
  TerminalLoan() = default;
  // Borrowed; `before` are its settings before the command started, who took the foreground when `lent`.
  TerminalLoan(int fd, bool lent, const termios& before) : fd_(fd), lent_(lent), before_(before) {}
  TerminalLoan(const TerminalLoan&) = delete;
  TerminalLoan& operator=(const TerminalLoan&) = delete;
  ~TerminalLoan();  // takes the foreground back

  // The command was stopped: stop with it, so that whoever started us sees it.
  void stop_along();
  // Hands the foreground on when it is ours to give: to who had it when we were stopped, else to `group`.
  bool lend(pid_t group);
  // The command did not get to put its settings back.
  void restore_settings() const;
  void take_back();

 private:
  int fd_ = -1;
  bool lent_ = false;
  pid_t group_inside_ = 0;
  termios before_ = {};
  std::optional<termios> inside_ = {};
};

}  // namespace harn::run

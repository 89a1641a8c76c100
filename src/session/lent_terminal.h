// SPDX-License-Identifier: Apache-2.0
// A terminal of its own for a command in a session, which lives in another session of processes than ours: what is typed here arrives
// there, what it writes appears here, and it has our size. Keys that send signals send them there.
#pragma once

#include <termios.h>

#include <thread>

#include "harn/result.h"
#include "sys/unique_fd.h"

namespace harn::session {

class LentTerminal {
 public:
  // Standard input must be a terminal. From here on this process's standard streams are the command's end.
  static Result<LentTerminal> open();
  LentTerminal(LentTerminal&&) noexcept = default;
  LentTerminal& operator=(LentTerminal&&) = delete;
  ~LentTerminal();  // everything is passed on, and our own terminal is as it was

 private:
  LentTerminal() = default;

  sys::UniqueFd ours_ = {};
  sys::UniqueFd master_ = {};
  sys::UniqueFd ending_ = {};
  termios before_ = {};
  std::thread relay_ = {};
};

}  // namespace harn::session

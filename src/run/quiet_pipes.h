// SPDX-License-Identifier: Apache-2.0
// Inside somebody else's program a pipe whose reader has left must not end that program, and its signal
// actions are not ours to change: the signal is held back on this thread, and taken away again.
#pragma once

#include <signal.h>

namespace harn::run {

class QuietPipes {
 public:
  QuietPipes();
  QuietPipes(const QuietPipes&) = delete;
  QuietPipes& operator=(const QuietPipes&) = delete;
  ~QuietPipes();  // on the thread that made it

 private:
  sigset_t before_ = {};
  bool pending_before_ = false;  // somebody else's, and not ours to take
};

}  // namespace harn::run

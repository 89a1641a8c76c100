// SPDX-License-Identifier: Apache-2.0
// A process that lives for one command gives itself up to it: its signals are the command's, and
// whatever the command leaves behind comes to it. Undone in the destructor.
#pragma once

#include <signal.h>

#include "harn/result.h"
#include "sys/unique_fd.h"

namespace harn::run {

class OwnProcess {
 public:
  OwnProcess() = default;
  OwnProcess(const OwnProcess&) = delete;
  OwnProcess& operator=(const OwnProcess&) = delete;
  ~OwnProcess();

  // `orphans`: what the command leaves behind comes to us. Not where an engine's own helpers would.
  Status take_over(bool orphans = true);
  int signal_fd() const { return signals_.get(); }

 private:
  bool taken_ = false;
  sigset_t before_ = {};
  struct sigaction pipe_before_ = {};
  sys::UniqueFd signals_ = {};
};

}  // namespace harn::run

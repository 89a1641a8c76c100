// SPDX-License-Identifier: Apache-2.0
// A process that lives for one command collects its signals in a pipe: they are the command's. Undone in the
// destructor.
#pragma once

#include <signal.h>

#include <array>

#include "harn/result.h"
#include "sys/unique_fd.h"

namespace harn::run {

class OwnSignals {
 public:
  OwnSignals() = default;
  OwnSignals(const OwnSignals&) = delete;
  OwnSignals& operator=(const OwnSignals&) = delete;
  ~OwnSignals();

  // Once per process and at one time: a handler has nothing but a global to write to.
  Status take_over();
  int fd() const { return read_.get(); }  // for sys::next_signal()

  static constexpr std::array collected = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD, SIGCONT};

 private:
  sys::UniqueFd read_ = {};
  sys::UniqueFd write_ = {};
  std::array<struct sigaction, collected.size()> before_ = {};
  struct sigaction pipe_before_ = {};
  bool taken_ = false;
};

}  // namespace harn::run

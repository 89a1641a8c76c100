// SPDX-License-Identifier: Apache-2.0
#include "run/terminal.h"

#include <signal.h>
#include <unistd.h>

namespace harn::run {
namespace {

// A background group that touches the terminal would be stopped for it.
class OutputStopBlocked {
 public:
  OutputStopBlocked() {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGTTOU);
    ::pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  ~OutputStopBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  OutputStopBlocked(const OutputStopBlocked&) = delete;
  OutputStopBlocked& operator=(const OutputStopBlocked&) = delete;

 private:
  sigset_t before_ = {};
};

}  // namespace

bool in_foreground(int fd) { return ::tcgetpgrp(fd) == ::getpgrp(); }

TerminalLoan::TerminalLoan(int fd) : fd_(fd) {
  if (fd_ >= 0 && ::tcgetattr(fd_, &before_) != 0) fd_ = -1;
}

TerminalLoan::~TerminalLoan() { take_back(); }

void TerminalLoan::take_back() const {
  if (fd_ < 0) return;
  const OutputStopBlocked blocked;
  ::tcsetpgrp(fd_, ::getpgrp());
}

void TerminalLoan::stop_along() {
  if (fd_ < 0) return;
  const pid_t group = ::tcgetpgrp(fd_);
  termios inside = {};
  const bool known = ::tcgetattr(fd_, &inside) == 0;
  take_back();
  restore_settings();
  ::kill(::getpid(), SIGSTOP);
  // Continued, perhaps in the background: then the terminal is not ours to give.
  if (::tcgetpgrp(fd_) != ::getpgrp()) return;
  const OutputStopBlocked blocked;
  if (known) ::tcsetattr(fd_, TCSADRAIN, &inside);
  ::tcsetpgrp(fd_, group);
}

void TerminalLoan::restore_settings() {
  if (fd_ < 0) return;
  const OutputStopBlocked blocked;
  ::tcsetattr(fd_, TCSADRAIN, &before_);
}

}  // namespace harn::run

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
    sigemptyset(&set);
    sigaddset(&set, SIGTTOU);
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

TerminalLoan::~TerminalLoan() { take_back(); }

void TerminalLoan::take_back() {
  if (fd_ < 0 || !lent_) return;
  const OutputStopBlocked blocked;
  ::tcsetpgrp(fd_, ::getpgrp());
  lent_ = false;
}

void TerminalLoan::stop_along() {
  if (fd_ < 0) return;
  if (lent_) {
    group_inside_ = ::tcgetpgrp(fd_);
    termios inside = {};
    if (::tcgetattr(fd_, &inside) == 0) inside_ = inside;
    restore_settings();
    take_back();
  }
  ::kill(::getpid(), SIGSTOP);
}

bool TerminalLoan::lend(pid_t group) {
  if (fd_ < 0 || !in_foreground(fd_)) return false;
  ::tcgetattr(fd_, &before_);
  const OutputStopBlocked blocked;
  if (inside_) ::tcsetattr(fd_, TCSADRAIN, &*inside_);
  inside_.reset();
  lent_ = (group_inside_ > 0 && ::tcsetpgrp(fd_, group_inside_) == 0) || (group > 0 && ::tcsetpgrp(fd_, group) == 0);
  return lent_;
}

void TerminalLoan::restore_settings() const {
  if (fd_ < 0 || !lent_) return;
  const OutputStopBlocked blocked;
  ::tcsetattr(fd_, TCSADRAIN, &before_);
}

}  // namespace harn::run

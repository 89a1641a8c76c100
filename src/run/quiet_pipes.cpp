// SPDX-License-Identifier: Apache-2.0
#include "run/quiet_pipes.h"

#include <errno.h>
#include <time.h>

namespace harn::run {
namespace {

sigset_t pipe_signal() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGPIPE);
  return set;
}

bool is_pending() {
  sigset_t pending;
  ::sigemptyset(&pending);
  ::sigpending(&pending);
  return ::sigismember(&pending, SIGPIPE) == 1;
}

}  // namespace

QuietPipes::QuietPipes() : pending_before_(is_pending()) {
  const auto set = pipe_signal();
  ::pthread_sigmask(SIG_BLOCK, &set, &before_);
}

QuietPipes::~QuietPipes() {
  if (!pending_before_ && is_pending()) {
    const auto set = pipe_signal();
    constexpr timespec at_once = {};
    while (::sigtimedwait(&set, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace harn::run

// SPDX-License-Identifier: Apache-2.0
#include "run/own_process.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "sys/files.h"

namespace harn::run {

Status OwnProcess::take_over(bool orphans) {
  sigset_t passed;
  ::sigemptyset(&passed);
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD, SIGCONT}) ::sigaddset(&passed, number);
  ::pthread_sigmask(SIG_BLOCK, &passed, &before_);
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &pipe_before_);
  taken_ = true;
  signals_ = sys::UniqueFd(::signalfd(-1, &passed, SFD_CLOEXEC | SFD_NONBLOCK));
  if (signals_ && (!orphans || ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0)) return {};
  auto error = sys::os_failure("signalfd", "for the command", errno, Stage::prepare);
  return fail(std::move(error));
}

OwnProcess::~OwnProcess() {
  if (!taken_) return;
  // Who asked for an end while the command was ending has got it: how it ended is still to be told.
  signalfd_siginfo late = {};
  while (signals_ && ::read(signals_.get(), &late, sizeof late) == static_cast<ssize_t>(sizeof late)) {
  }
  ::sigaction(SIGPIPE, &pipe_before_, nullptr);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace harn::run

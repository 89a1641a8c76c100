// SPDX-License-Identifier: Apache-2.0
#include "run/unix/own_signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "sys/descriptors.h"
#include "sys/files.h"

namespace harn::run {
namespace {

volatile sig_atomic_t collecting_fd = -1;

// A pipe that is full holds thousands of signals nobody took; one more would say nothing new.
void collect(int number) {
  const int error = errno;
  const auto byte = static_cast<unsigned char>(number);
  if (::write(static_cast<int>(collecting_fd), &byte, 1) < 0) errno = error;
  errno = error;
}

}  // namespace

Status OwnSignals::take_over() {
  HARN_TRY(pipe, sys::open_pipe());
  read_ = std::move(pipe.read);
  write_ = std::move(pipe.write);
  for (const int fd : {read_.get(), write_.get()})
    if (::fcntl(fd, F_SETFL, O_NONBLOCK) != 0) return fail(sys::os_failure("fcntl", "O_NONBLOCK", errno, Stage::prepare));
  collecting_fd = write_.get();
  struct sigaction action = {};
  action.sa_handler = collect;
  action.sa_flags = SA_RESTART;
  sigfillset(&action.sa_mask);
  for (std::size_t i = 0; i < collected.size(); ++i) ::sigaction(collected[i], &action, &before_[i]);
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &pipe_before_);
  taken_ = true;
  return {};
}

OwnSignals::~OwnSignals() {
  if (!taken_) return;
  for (std::size_t i = 0; i < collected.size(); ++i) ::sigaction(collected[i], &before_[i], nullptr);
  ::sigaction(SIGPIPE, &pipe_before_, nullptr);
  collecting_fd = -1;
}

}  // namespace harn::run

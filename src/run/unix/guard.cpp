// SPDX-License-Identifier: Apache-2.0
#include "run/unix/guard.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/descriptors.h"
#include "sys/files.h"

namespace harn::run {
namespace {

constexpr char dismissed = 'd';

// Only calls that are safe after fork. Everything but the pipe is closed, so that nobody waits for an end of file we hold.
[[noreturn]] void watch(int lifeline, pid_t group, int most_descriptors) {
  ::setsid();
  for (int fd = 0; fd < most_descriptors; ++fd)
    if (fd != lifeline) ::close(fd);
  char word = 0;
  ssize_t got = 0;
  while ((got = ::read(lifeline, &word, 1)) < 0 && errno == EINTR) {
  }
  if (got != 1 || word != dismissed) ::kill(-group, SIGKILL);
  ::_exit(0);
}

}  // namespace

Result<Guard> Guard::post(pid_t group) {
  HARN_TRY(pipe, sys::open_pipe());
  const long most = ::sysconf(_SC_OPEN_MAX);
  const int most_descriptors = most < 256 || most > 65536 ? 65536 : static_cast<int>(most);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) watch(pipe.read.get(), group, most_descriptors);
  const int error = errno;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return fail(sys::os_failure("fork", "the guard", error, Stage::spawn));
  Guard out;
  out.pid_ = pid;
  out.lifeline_ = std::move(pipe.write);
  return out;
}

Guard::~Guard() {
  if (pid_ < 0) return;
  if (::write(lifeline_.get(), &dismissed, 1) != 1) ::kill(pid_, SIGKILL);
  lifeline_ = {};
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace harn::run

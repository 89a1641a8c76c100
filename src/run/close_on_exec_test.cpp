// SPDX-License-Identifier: Apache-2.0
#include "run/child/close_on_exec.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "sys/unique_fd.h"

namespace harn::run::child {
namespace {

bool survives_exec(int fd) { return (::fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0; }

// In a process of its own: everything from `first` on is marked, whoever opened it.
int marked_in_child(Word (*mark)(int) noexcept, int first, const std::vector<int>& fds) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (mark(first) != 0) ::_exit(100);
    int wrong = 0;
    for (const int fd : fds) wrong += survives_exec(fd) == (fd < first) ? 0 : 1;
    ::_exit(wrong);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST(CloseOnExec, OldAndNewKernelsMarkTheSame) {
  std::vector<sys::UniqueFd> held;
  std::vector<int> fds;
  // More than one look at the list holds, and far from each other.
  for (const int at : {0, 400, 900}) {
    for (int i = 0; i < 70; ++i) {
      held.emplace_back(::fcntl(STDERR_FILENO, F_DUPFD, 20 + at));
      ASSERT_TRUE(held.back());
      fds.push_back(held.back().get());
    }
  }
  for (const int first : {3, 50, 500}) {
    EXPECT_EQ(marked_in_child(close_on_exec_from, first, fds), 0);
    EXPECT_EQ(marked_in_child(close_each_on_exec_from, first, fds), 0);
  }
}

}  // namespace
}  // namespace harn::run::child

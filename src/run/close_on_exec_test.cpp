// SPDX-License-Identifier: Apache-2.0
#include "run/child/close_on_exec.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

#include "sys/unique_fd.h"

namespace harn::run::child {
namespace {

bool survives_exec(int fd) { return (::fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0; }

// Everything from `first` on is marked, whoever opened it. Ends the process, which it leaves without descriptors to pass on.
[[noreturn]] void mark_and_look(Word (*mark)(int) noexcept, int first, const std::vector<int>& fds) {
  int wrong = mark(first) == 0 ? 0 : 100;
  for (const int fd : fds) wrong += survives_exec(fd) == (fd < first) ? 0 : 1;
  ::_exit(wrong);
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
    EXPECT_EXIT(mark_and_look(close_on_exec_from, first, fds), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(mark_and_look(close_each_on_exec_from, first, fds), testing::ExitedWithCode(0), "");
  }
}

}  // namespace
}  // namespace harn::run::child

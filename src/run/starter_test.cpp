// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "run/child/replay.h"

namespace harn::run::child {
namespace {

// What the first step of a supervised command's process says, as an exit code.
[[noreturn]] void tie_to(int starter) {
  const Step step{.op = Op::die_with_parent};
  Launch launch;
  launch.inner = {.steps = &step, .count = 1};
  launch.starter = starter;
  ::_exit(replay_here(launch) ? 0 : launch.report.error);
}

TEST(Starter, WhoeverWasLeftBeforeItCouldTieItselfDoesNotGoOn) {
  EXPECT_EXIT(tie_to(::getpid()), testing::ExitedWithCode(ESRCH), "") << "the supervisor is gone: somebody else is the parent";
  EXPECT_EXIT(tie_to(::getppid()), testing::ExitedWithCode(0), "") << "this process is the parent's own child";
  EXPECT_EXIT(tie_to(0), testing::ExitedWithCode(0), "") << "nobody said who it must be";
}

}  // namespace
}  // namespace harn::run::child

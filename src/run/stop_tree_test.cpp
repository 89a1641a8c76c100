// SPDX-License-Identifier: Apache-2.0
#include "run/stop_tree.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

namespace harn::run {
namespace {

pid_t start(const char* script) {
  pid_t pid = -1;
  const char* const words[] = {"/bin/sh", "-c", script, nullptr};
  const char* const variables[] = {"PATH=/usr/bin:/bin", nullptr};
  EXPECT_EQ(::posix_spawn(&pid, words[0], nullptr, nullptr, const_cast<char* const*>(words), const_cast<char* const*>(variables)), 0);
  return pid;
}

TEST(EndDescendants, SaysWhatItKilledAndLeavesNobody) {
  start("sleep 60 & sleep 60");
  start("sleep 60");
  while (children_of(::getpid()).size() < 2) ::usleep(1000);
  const auto ended = end_descendants();
  EXPECT_GE(ended.killed, 2u);
  EXPECT_TRUE(ended.left.empty());
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(EndDescendants, DoesNotCountWhoEndedByThemselves) {
  const pid_t pid = start("exit 3");
  siginfo_t seen = {};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &seen, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(end_descendants().killed, 0u);
}

TEST(EndDescendants, NamesWhoIsLeft) {
  const pid_t pid = start("exec sleep 60");
  const auto ended = end_descendants(std::chrono::milliseconds(0));
  EXPECT_EQ(ended.left, std::vector<pid_t>{pid});
  EXPECT_EQ(end_descendants().killed, 1u);
}

TEST(ReapOrphans, LeavesTheCommandToItsSupervisor) {
  const pid_t command = start("exec sleep 60");
  start("exit 0");
  int reaped = 0;
  while (reaped == 0) reap_orphans(command, [&](const rusage&) { ++reaped; });
  ::kill(command, SIGKILL);
  siginfo_t seen = {};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(command), &seen, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(reap_orphans(command, [&](const rusage&) { ++reaped; }));
  EXPECT_EQ(reaped, 1);
  EXPECT_EQ(::waitpid(command, nullptr, 0), command);
}

}  // namespace
}  // namespace harn::run

// SPDX-License-Identifier: Apache-2.0
#include "run/ending.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace harn::run {
namespace {

constexpr int exited(int code) { return code << 8; }
constexpr int killed(int signal) { return signal; }

Outcome settled(const Ended& ended) {
  Outcome outcome;
  settle_ending(ended, outcome);
  return outcome;
}

TEST(Ending, ExitCodesAreTheCommandsOwn) {
  for (int code = 0; code < 256; ++code) EXPECT_EQ(settled({.wait_status = exited(code)}), (Outcome{.exit_code = code}));
}

TEST(Ending, SignalsAreNegative) {
  for (int signal = 1; signal < 32; ++signal) EXPECT_EQ(settled({.wait_status = killed(signal)}), (Outcome{.exit_code = -signal}));
}

TEST(Ending, ADumpedCoreIsStillTheSignal) { EXPECT_EQ(settled({.wait_status = killed(SIGSEGV) | 0x80}).exit_code, -SIGSEGV); }

TEST(Ending, OurDeadlineIsATimeoutWhateverTheCommandMadeOfIt) {
  EXPECT_EQ(settled({.wait_status = killed(SIGTERM), .deadline_passed = true}), (Outcome{.exit_code = -SIGTERM, .timed_out = true}));
  EXPECT_EQ(settled({.wait_status = exited(0), .deadline_passed = true}), (Outcome{.exit_code = 0, .timed_out = true}));
  EXPECT_FALSE(settled({.wait_status = exited(0), .deadline_passed = true}).success());
}

TEST(Ending, LimitSignalsCountOnlyWhereALimitWasSet) {
  EXPECT_EQ(settled({.wait_status = killed(SIGXCPU), .cpu_limited = true}),
            (Outcome{.exit_code = -SIGXCPU, .timed_out = true, .cpu_exceeded = true}));
  EXPECT_EQ(settled({.wait_status = killed(SIGXCPU)}), (Outcome{.exit_code = -SIGXCPU}));
  EXPECT_EQ(settled({.wait_status = killed(SIGXFSZ), .file_size_limited = true}),
            (Outcome{.exit_code = -SIGXFSZ, .file_size_exceeded = true}));
  EXPECT_EQ(settled({.wait_status = killed(SIGXFSZ)}), (Outcome{.exit_code = -SIGXFSZ}));
}

TEST(Ending, WhatTheTreeSpentDecidesOverTheCommandsOwnEnd) {
  EXPECT_EQ(settled({.wait_status = exited(1), .memory_spent = true}), (Outcome{.exit_code = -SIGKILL, .oom_killed = true}));
  EXPECT_EQ(settled({.wait_status = killed(SIGKILL), .cpu_spent = true}),
            (Outcome{.exit_code = -SIGXCPU, .timed_out = true, .cpu_exceeded = true}));
  EXPECT_EQ(settled({.wait_status = killed(SIGKILL), .processes_spent = true}),
            (Outcome{.exit_code = -SIGKILL, .processes_exceeded = true}));
}

}  // namespace
}  // namespace harn::run

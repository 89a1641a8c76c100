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
  EXPECT_EQ(settled({.wait_status = killed(SIGXFSZ), .file_size_limit = 1}), (Outcome{.exit_code = -SIGXFSZ, .file_size_exceeded = true}));
  EXPECT_EQ(settled({.wait_status = killed(SIGXFSZ)}), (Outcome{.exit_code = -SIGXFSZ}));
}

TEST(Ending, AShellTellsOfAFileLimitByANumberAndIsBelievedWhereThatMuchWasWritten) {
  constexpr int told = 128 + SIGXFSZ;
  EXPECT_EQ(settled({.wait_status = exited(told), .file_size_limit = 4096, .written_bytes = 4096}),
            (Outcome{.exit_code = told, .file_size_exceeded = true}));
  EXPECT_EQ(settled({.wait_status = exited(told), .file_size_limit = 4096, .written_bytes = 12}), (Outcome{.exit_code = told}));
  EXPECT_EQ(settled({.wait_status = exited(told), .written_bytes = 1 << 20}), (Outcome{.exit_code = told}));
  EXPECT_EQ(settled({.wait_status = exited(1), .file_size_limit = 4096, .written_bytes = 4096}), (Outcome{.exit_code = 1}));
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

// SPDX-License-Identifier: Apache-2.0
// Tapes and processes: several writers at once, writers that are killed, and a replay that starts nothing.
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/run_program.h"
#include "support/temp_dir.h"

namespace harn::test {
namespace {

class ReplayProgram : public testing::Test {
 protected:
  ProgramRun shell(const std::string& script) {
    return run_program(
        {.argv = {"/bin/sh", "-c", script},
         .environment = {{"HOME", temp_.root()}, {"PATH", "/usr/bin:/bin"}, {"H", HARN_BINARY}, {"XDG_RUNTIME_DIR", HARN_TEST_RUNTIME}},
         .cwd = temp_.directory("p"),
         .scratch = temp_.path()});
  }

  TempDir temp_;
};

TEST_F(ReplayProgram, ProcessesRecordOnOneTapeAtOnce) {
  constexpr int count = 12;
  const auto ran =
      shell("for i in $(seq 12); do $H run --record ../t.tape -- sh -c \"seq $i 3000; echo e$i >&2\" >out.$i 2>err.$i & done; wait");
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const auto list = shell("$H replay --list ../t.tape | wc -l");
  EXPECT_EQ(base::trim(list.out), std::to_string(count)) << list.err;
  for (int i = 1; i <= count; ++i) {
    const auto n = std::to_string(i);
    const auto again =
        shell("$H replay ../t.tape -- sh -c \"seq " + n + " 3000; echo e" + n + " >&2\" >again 2>again.err; echo $?; cmp again out." + n +
              " && grep -v ^harn: err." + n + " | cmp - again.err");
    EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
  }
}

TEST_F(ReplayProgram, AKilledHarnSpoilsNoTape) {
  ASSERT_EQ(shell("$H run --record ../t.tape -- echo first").exit_code, 0);
  // Large enough that some are caught while they write.
  for (int i = 0; i < 30; ++i) {
    const auto nap = "0.0" + std::to_string(i % 10) + std::to_string(i * 7 % 10);
    shell("$H run --record ../t.tape -- head -c 6000000 /dev/zero >/dev/null & p=$!; sleep " + nap + "; kill -9 $p; wait $p");
    const auto read = shell("$H replay --at 1 ../t.tape -- echo first");
    ASSERT_EQ(read.exit_code, 0) << read.err;
    ASSERT_EQ(read.out, "first\n");
  }
  ASSERT_EQ(shell("$H run --record ../t.tape -- echo last").exit_code, 0);
  EXPECT_EQ(shell("$H replay ../t.tape -- echo last").out, "last\n");
}

// Where no process can be started, a run fails, and a replay answers all the same.
TEST_F(ReplayProgram, AReplayStartsNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become a user who may start nothing";
  const std::string as_nobody = "setpriv --reuid 65534 --regid 65534 --clear-groups ";
  if (shell(as_nobody + "test -x $H").exit_code != 0) GTEST_SKIP() << "harn is not everybody's";
  ASSERT_EQ(shell("chmod 755 .. && chmod 777 . && $H run --record ../t.tape -- echo first && chmod 644 ../t.tape").exit_code, 0);
  const std::string alone = "export XDG_STATE_HOME=$PWD/state XDG_RUNTIME_DIR=; prlimit --nproc=1 " + as_nobody;
  const auto run = shell(alone + "$H run -- echo first");
  EXPECT_NE(run.exit_code, 0) << run.out;
  const auto replay = shell(alone + "$H replay --ignore env ../t.tape -- echo first");
  EXPECT_EQ(replay.exit_code, 0) << replay.err;
  EXPECT_EQ(replay.out, "first\n");
}

TEST_F(ReplayProgram, InputIsComparedAsFarAsItWasGiven) {
  ASSERT_EQ(shell("printf 'a\\nb\\n' | $H run --record ../t.tape -- cat").out, "a\nb\n");
  EXPECT_EQ(shell("printf 'a\\nb\\n' | $H replay ../t.tape -- cat").out, "a\nb\n");
  EXPECT_EQ(shell("printf 'a\\nc\\n' | $H replay ../t.tape -- cat").exit_code, 125);
  EXPECT_EQ(shell("printf 'a\\nb\\nc\\n' | $H replay ../t.tape -- cat").exit_code, 125);
  EXPECT_EQ(shell("$H replay --ignore stdin ../t.tape -- cat </dev/null").out, "a\nb\n");
  // A command that does not wait for its input is recorded and replayed whatever is there.
  ASSERT_EQ(shell("sleep 1 | $H run --record ../u.tape -- echo quick; true").out, "quick\n");
  EXPECT_EQ(shell("$H replay ../u.tape -- echo quick </dev/null").out, "quick\n");
}

TEST_F(ReplayProgram, InputSaysWhichOfTwoRunsIsMeant) {
  ASSERT_EQ(shell("echo a | $H run --record ../t.tape -- cat; echo bb | $H run --record ../t.tape -- cat").exit_code, 0);
  EXPECT_EQ(shell("echo bb | $H replay ../t.tape -- cat").out, "bb\n");
  EXPECT_EQ(shell("echo a | $H replay ../t.tape -- cat").out, "a\n");
  const auto neither = shell("echo c | $H replay ../t.tape -- cat");
  EXPECT_EQ(neither.exit_code, 125);
  EXPECT_NE(neither.err.find("stdin (exec 1)"), std::string::npos) << neither.err;
  EXPECT_EQ(shell("echo bb | $H replay --ignore stdin ../t.tape -- cat").exit_code, 125) << "both would do";
}

// Two calls at once take turns; only one of them may play what is there once.
TEST_F(ReplayProgram, ACursorIsHeldWhileItIsUsed) {
  ASSERT_EQ(shell("$H run --record ../t.tape -- echo one").exit_code, 0);
  for (int i = 0; i < 8; ++i) {
    const auto ran = shell(
        "rm -f ../c; for k in 1 2 3; do $H replay --cursor ../c ../t.tape -- echo one >o$k 2>e$k & done; wait; cat o1 o2 o3; cat e1 e2 e3 "
        ">&2");
    ASSERT_EQ(ran.out, "one\n") << ran.err;
  }
}

// Digests of a policy must not tell what its redaction hides.
TEST_F(ReplayProgram, ASecretCannotBeGuessedFromADigest) {
  for (const auto* pin : {"4711", "4712"})
    ASSERT_EQ(shell(std::string("$H run --record ../") + pin + " --env DB_PASSWORD=" + pin + " -- true").exit_code, 0);
  const auto digests =
      shell("for t in ../4711 ../4712; do $H replay --json --at 1 $t | grep -E '\"(policy|plan)_digest\"'; done | sort | uniq -c");
  EXPECT_NE(digests.out.find("2   \"policy_digest\""), std::string::npos) << digests.out;
  EXPECT_EQ(digests.out.find("plan_digest"), std::string::npos) << digests.out;
}

// A recorded command has pipes; what it says to a terminal is not what is recorded.
TEST_F(ReplayProgram, UnderATerminalTheCommandStillHasPipes) {
  if (shell("command -v script").exit_code != 0) GTEST_SKIP() << "needs script(1)";
  const auto ran = shell("script -qec \"$H run --record ../t.tape -- sh -c 'test -t 1 || echo a pipe'\" /dev/null </dev/null");
  EXPECT_NE(ran.out.find("a pipe"), std::string::npos) << ran.out << ran.err;
}

}  // namespace
}  // namespace harn::test

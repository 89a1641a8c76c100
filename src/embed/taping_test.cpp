// SPDX-License-Identifier: Apache-2.0
// What a program records through the library it gets again through the library, and nothing runs then.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "harn/embed.h"
#include "support/temp_dir.h"

namespace harn {
namespace {

class Taped : public testing::Test {
 protected:
  Context context() const {
    return {
        .environment = {{"HOME", dir_.directory("home").text()}, {"PATH", "/usr/bin:/bin"}, {"XDG_STATE_HOME", dir_.path("state").text()}},
        .cwd = dir_.directory("work")};
  }
  Policy policy() const { return {.workspace_roots = std::vector<AbsPath>{dir_.path("work")}}; }
  AbsPath tape() const { return dir_.path("work/t.tape"); }

  Result<Outcome> record(const Command& command, const Call& call = {}) const {
    auto here = context();
    HARN_TRY(writer, TapeWriter::open(tape()));
    here.tape = &writer;
    HARN_TRY(sandbox, Sandbox::open(policy(), here));
    return sandbox.run(command, call);
  }

  test::TempDir dir_;
};

TEST_F(Taped, AnswersWithoutRunning) {
  const Command command{.argv = {"sh", "-c", "read x; echo got $x; echo err >&2; echo ran >> log; exit 3"}};
  const auto ran = record(command, {.input = "hello\n"});
  ASSERT_TRUE(ran) << describe(ran.error());
  EXPECT_EQ(ran->exit_code, 3);
  std::filesystem::remove(dir_.path("work/log").text());

  Replay replay(*Tape::open(tape()));
  auto here = context();
  here.replay = &replay;
  const auto sandbox = Sandbox::open(policy(), here);
  ASSERT_TRUE(sandbox) << describe(sandbox.error());
  const auto again = sandbox->run(command, {.input = "hello\n"});
  ASSERT_TRUE(again) << describe(again.error());
  EXPECT_EQ(again->captured_stdout, ran->captured_stdout);
  EXPECT_EQ(*again->captured_stdout, "got hello\n");
  EXPECT_EQ(again->captured_stderr, ran->captured_stderr);
  EXPECT_EQ(again->exit_code, 3);
  EXPECT_FALSE(std::filesystem::exists(dir_.path("work/log").text()));
  const auto extra = sandbox->run(command, {.input = "hello\n"});
  ASSERT_FALSE(extra);
  EXPECT_NE(extra.error().message.find("extra"), std::string::npos) << extra.error().message;
}

TEST_F(Taped, TheCommandCannotReachTheTapeInItsOwnWorkspace) {
  // Without a tape the same file is the command's to read and to write.
  dir_.file("work/t.tape", "");
  const auto open = Sandbox::open(policy(), context());
  ASSERT_TRUE(open);
  const Command attack{.argv = {"sh", "-c", "cat t.tape && echo x >> t.tape"}};
  ASSERT_EQ(open->run(attack)->exit_code, 0);
  std::filesystem::remove(tape().text());

  for (const auto* act : {"cat t.tape", "echo x >> t.tape", "rm -f t.tape", "mv t.tape u", ": > t.tape", "ln t.tape u && cat u"}) {
    const auto outcome = record({.argv = {"sh", "-c", act}});
    ASSERT_TRUE(outcome) << describe(outcome.error());
    EXPECT_NE(outcome->exit_code, 0) << act;
    EXPECT_EQ(outcome->captured_stdout->find("harn.tape"), std::string::npos) << act;
  }
  const auto read = Tape::open(tape());
  ASSERT_TRUE(read) << describe(read.error());
  EXPECT_EQ(read->records().size(), 6u);
}

TEST_F(Taped, WhatDidNotStartIsAnsweredAgain) {
  const auto ran = record({.argv = {"no-such-program"}});
  ASSERT_FALSE(ran);
  Replay replay(*Tape::open(tape()));
  auto here = context();
  here.replay = &replay;
  const auto again = Sandbox::open(policy(), here)->run({.argv = {"no-such-program"}});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ran.error().code);
  EXPECT_EQ(again.error().os_error, ran.error().os_error);
  EXPECT_EQ(again.error().message, ran.error().message);
}

TEST_F(Taped, AReplayAsksNothingOfTheHost) {
  ASSERT_TRUE(record({.argv = {"true"}}));
  Replay replay(*Tape::open(tape()), {.ignore_env = {"HARN_PRETEND"}});
  auto here = context();
  here.replay = &replay;
  // Nothing is tried, so nothing can be missing.
  here.environment["HARN_PRETEND"] = "userns=no,landlock=no,seccomp=no";
  auto strict = policy();
  const auto sandbox = Sandbox::open(strict, here);
  ASSERT_TRUE(sandbox) << describe(sandbox.error());
  const auto again = sandbox->run({.argv = {"true"}});
  ASSERT_TRUE(again) << describe(again.error());
  EXPECT_TRUE(again->success());
}

}  // namespace
}  // namespace harn

// SPDX-License-Identifier: Apache-2.0
// At a terminal a command inside behaves as one outside: keys, job control, size, settings.
// Awaited words are computed by the shell, so that the echo of what was typed is not taken for them.
#include "usability/terminal.h"

#include <signal.h>
#include <unistd.h>

#include <set>
#include <sstream>

#include <gtest/gtest.h>

namespace harn::test {
namespace {

constexpr std::string_view control_c = "\x03";
constexpr std::string_view control_z = "\x1a";

class AtATerminal : public testing::TestWithParam<Who> {
 protected:
  Person person_{GetParam()};

  std::vector<std::string> run(const std::string& script, const std::vector<std::string>& options = {}) const {
    std::vector<std::string> words = {"run"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "bash", "-c", script});
    return person_.harn_words(words);
  }
  // The person's own shell, outside; harn is $H there.
  std::vector<std::string> outer_shell() {
    std::string harn;
    for (const auto& word : person_.harn_words({"run", "--"})) harn += word + " ";
    person_.environment()["H"] = harn;
    return {"/bin/bash", "--norc", "--noprofile", "-i"};
  }
};

TEST_P(AtATerminal, ControlCEndsACommand) {
  Terminal terminal(person_, run("echo r$((1+1)); exec sleep 60"));
  ASSERT_TRUE(terminal.await_text("r2")) << terminal.seen();
  terminal.type(control_c);
  EXPECT_EQ(terminal.finish(), 130) << terminal.seen();
}

TEST_P(AtATerminal, ControlCReachesAHandler) {
  Terminal terminal(person_, run("trap 'echo caught; exit 7' INT; echo r$((1+1)); while :; do sleep 0.05; done"));
  ASSERT_TRUE(terminal.await_text("r2")) << terminal.seen();
  terminal.type(control_c);
  EXPECT_TRUE(terminal.await_text("caught"));
  EXPECT_EQ(terminal.finish(), 7) << terminal.seen();
}

TEST_P(AtATerminal, ControlZStopsAndForegroundContinues) {
  Terminal terminal(person_, outer_shell());
  terminal.type("$H sh -c 'echo r$((1+1)); read x; echo got $x; read x; echo got $x'; echo code $?\n");
  for (const std::string_view word : {"first", "second"}) {
    if (word == "first") {
      ASSERT_TRUE(terminal.await_text("r2")) << terminal.seen();
    }
    terminal.type(control_z);
    ASSERT_TRUE(terminal.await_text("Stopped")) << terminal.seen();
    terminal.type("echo out$((1+1))side\n");
    ASSERT_TRUE(terminal.await_text("out2side")) << terminal.seen();
    terminal.type("fg\n");
    terminal.type(std::string(word) + "\n");
    ASSERT_TRUE(terminal.await_text("got " + std::string(word))) << terminal.seen();
  }
  terminal.type("exit 3\n");
  EXPECT_EQ(terminal.finish(), 3) << terminal.seen();
}

TEST_P(AtATerminal, AStoppedCommandGoesOnInTheBackground) {
  Terminal terminal(person_, outer_shell());
  terminal.type("set -b; $H sh -c 'mkfifo go; echo r$((1+1)); read x < go; echo w$((2+2))nt on; read x; echo got $x'\n");
  ASSERT_TRUE(terminal.await_text("r2")) << terminal.seen();
  terminal.type(control_z);
  ASSERT_TRUE(terminal.await_text("Stopped")) << terminal.seen();
  terminal.type("bg\n");
  terminal.type("echo > go\n");
  ASSERT_TRUE(terminal.await_text("w4nt on")) << terminal.seen();
  // A shell told to bring back a job that is stopping just then sends it no SIGCONT, whatever the job is.
  ASSERT_TRUE(terminal.await_text("Stopped")) << terminal.seen();
  terminal.type("fg\n");
  terminal.type("late\n");
  EXPECT_TRUE(terminal.await_text("got late")) << terminal.seen();
  terminal.type("exit 4\n");
  EXPECT_EQ(terminal.finish(), 4) << terminal.seen();
}

// The word that the command was stopped can arrive after the order to go on.
TEST_P(AtATerminal, AStopThatIsOverStopsNothing) {
  Terminal terminal(person_, outer_shell());
  terminal.type("$H sh -c 'mkfifo go; echo r$((1+1)); read x < go; read x; echo got $x'\n");
  ASSERT_TRUE(terminal.await_text("r2")) << terminal.seen();
  terminal.type(control_z);
  ASSERT_TRUE(terminal.await_text("Stopped")) << terminal.seen();
  terminal.type("bg; h=$(jobs -p); c=$(pgrep -P $(pgrep -P $h)); kill -STOP $h; kill -STOP $c; sleep 0.2; echo r$((2+2))\n");
  ASSERT_TRUE(terminal.await_text("r4")) << terminal.seen();
  terminal.type("(echo > go) & fg %1\n");
  terminal.type("late\n");
  EXPECT_TRUE(terminal.await_text("got late")) << terminal.seen();
  terminal.type("exit 4\n");
  EXPECT_EQ(terminal.finish(), 4) << terminal.seen();
}

TEST_P(AtATerminal, StartedInTheBackgroundItWaitsForTheForegroundToRead) {
  Terminal terminal(person_, outer_shell());
  terminal.type("set -b; $H sh -c 'echo r$((1+1)); read x; echo got $x' &\n");
  ASSERT_TRUE(terminal.await_text("r2")) << terminal.seen();
  ASSERT_TRUE(terminal.await_text("Stopped")) << terminal.seen();
  terminal.type("fg\n");
  terminal.type("word\n");
  EXPECT_TRUE(terminal.await_text("got word")) << terminal.seen();
  terminal.type("exit 5\n");
  EXPECT_EQ(terminal.finish(), 5) << terminal.seen();
}

TEST_P(AtATerminal, TheWindowSizeIsKnownAndFollowed) {
  Terminal terminal(person_, run("trap 'stty size; exit 0' WINCH; stty size; echo r$((1+1)); while :; do sleep 0.02; done"));
  ASSERT_TRUE(terminal.await_text("24 80")) << terminal.seen();
  ASSERT_TRUE(terminal.await_text("r2")) << terminal.seen();
  terminal.resize(50, 132);
  EXPECT_TRUE(terminal.await_text("50 132")) << terminal.seen();
  EXPECT_EQ(terminal.finish(), 0);
}

TEST_P(AtATerminal, TheTerminalHasAName) {
  Terminal terminal(person_, run("tty; echo to the t$((1+1))y > /dev/tty; test -t 0 -a -t 1 -a -t 2"));
  EXPECT_TRUE(terminal.await_text("/dev/console")) << terminal.seen();
  EXPECT_TRUE(terminal.await_text("to the t2y")) << terminal.seen();
  EXPECT_EQ(terminal.finish(), 0) << terminal.seen();
}

// chmod through a descriptor would open the terminal of whoever started us to others.
TEST_P(AtATerminal, TheModeOfTheTerminalStays) {
  Terminal terminal(
      person_,
      run("for fd in 0 1 2; do chmod 666 /proc/self/fd/$fd && echo c$((1+1)); done; chmod 666 $(tty) && echo c$((1+1)); echo r$((1+1))"));
  EXPECT_TRUE(terminal.await_text("r2")) << terminal.seen();
  EXPECT_EQ(terminal.finish(), 0) << terminal.seen();
  EXPECT_EQ(terminal.seen().find("c2"), std::string::npos) << terminal.seen();
}

TEST_P(AtATerminal, SettingsAreRestoredAfterACommandThatWasEnded) {
  Terminal terminal(person_, outer_shell());
  terminal.type("stty -a | cksum; $H sh -c 'stty raw -echo; kill -9 $$'; echo code $?; stty -a | cksum; echo t$((1+1))o\n");
  ASSERT_TRUE(terminal.await_text("code 137")) << terminal.seen();
  terminal.type("${H% -- } --timeout 200ms -- sh -c 'stty raw -echo; exec sleep 60'; echo code $?; stty -a | cksum; echo t$((2+1))o\n");
  ASSERT_TRUE(terminal.await_text("code 124")) << terminal.seen();
  ASSERT_TRUE(terminal.await_text("t3o")) << terminal.seen();
  std::set<std::string> sums;
  std::istringstream lines(terminal.seen());
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && line.find_first_not_of("0123456789 \r") == std::string::npos) sums.insert(line);
  EXPECT_EQ(sums.size(), 1u) << terminal.seen();
  terminal.type("exit 0\n");
  EXPECT_EQ(terminal.finish(), 0);
}

TEST_P(AtATerminal, ClosedStreamsAreNoError) {
  Terminal terminal(person_, outer_shell());
  terminal.type("$H sh -c 'cat; echo r$((1+1))' <&-; $H sh -c 'echo x; exit 3' >&- 2>&-; echo code $?; exit 0\n");
  EXPECT_TRUE(terminal.await_text("r2")) << terminal.seen();
  EXPECT_TRUE(terminal.await_text("code 3")) << terminal.seen();
  EXPECT_EQ(terminal.finish(), 0);
}

TEST_P(AtATerminal, AShellInsideHasJobControl) {
  Terminal terminal(person_, person_.harn_words({"shell"}));
  terminal.type("echo r$((1+1))\n");
  ASSERT_TRUE(terminal.await_text("r2")) << terminal.seen();
  EXPECT_EQ(terminal.seen().find("no job control"), std::string::npos) << terminal.seen();
  terminal.type("sh -c 'echo s$((1+2)); read x; echo got $x'\n");
  ASSERT_TRUE(terminal.await_text("s3")) << terminal.seen();
  terminal.type(control_z);
  ASSERT_TRUE(terminal.await_text("Stopped")) << terminal.seen();
  terminal.type("fg\n");
  terminal.type("word\n");
  ASSERT_TRUE(terminal.await_text("got word")) << terminal.seen();
  terminal.type("sh -c 'echo v$((1+3)); exec sleep 60'\n");
  ASSERT_TRUE(terminal.await_text("v4")) << terminal.seen();
  terminal.type(control_c);
  terminal.type("echo code $?\n");
  ASSERT_TRUE(terminal.await_text("code 130")) << terminal.seen();
  terminal.type("exit 9\n");
  EXPECT_EQ(terminal.finish(), 9) << terminal.seen();
}

INSTANTIATE_TEST_SUITE_P(As, AtATerminal, testing::ValuesIn(everybody()), testing::PrintToStringParamName());

}  // namespace
}  // namespace harn::test

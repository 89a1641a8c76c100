// SPDX-License-Identifier: Apache-2.0
// Harn inside another program, on the real kernel: commands run from many threads, end when asked, and
// the program around them keeps what is its own.
#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "harn/embed.h"
#include "harn/scope.h"
#include "support/temp_dir.h"

namespace harn {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class Embedded : public ::testing::Test {
 protected:
  Context context(const std::string& pretended = {}) const {
    Context out{.environment = {{"HOME", home_.text()}, {"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"XDG_STATE_HOME", state_.text()}},
                .cwd = work_};
    if (!pretended.empty()) out.environment["HARN_PRETEND"] = pretended;
    return out;
  }

  Sandbox open(Policy policy = {}, const std::string& pretended = {}) const {
    auto sandbox = Sandbox::open(std::move(policy), context(pretended));
    EXPECT_TRUE(sandbox) << describe(sandbox.error());
    return std::move(*sandbox);
  }

  static Command shell(std::string script) { return {.argv = {"/bin/sh", "-c", std::move(script)}}; }

  test::TempDir dir_;
  AbsPath home_ = dir_.path("home");
  AbsPath state_ = dir_.path("state");
  AbsPath work_ = dir_.directory("work");
};

std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

TEST_F(Embedded, RunsACommandConfined) {
  const auto sandbox = open();
  const auto outcome = sandbox.run(shell("echo out; echo err >&2; echo made > here; cat /etc/hostname > ../escaped; exit 3"));
  ASSERT_TRUE(outcome) << describe(outcome.error());
  EXPECT_EQ(outcome->exit_code, 3);
  EXPECT_EQ(outcome->captured_stdout, "out\n");
  EXPECT_TRUE(outcome->captured_stderr->starts_with("err\n"));
  EXPECT_TRUE(fs::exists(work_.join("here").text()));
  EXPECT_FALSE(fs::exists(dir_.path("escaped").text()));
  EXPECT_EQ(outcome->receipt.backend, "linux");
}

TEST_F(Embedded, APolicyScopeNarrowsWhatRunsInsideIt) {
  dir_.directory("work/a");
  const auto sandbox = open();
  const auto script = shell("echo x > a/f; echo x > g");
  {
    const auto scope = PolicyScope::enter({.workspace_roots = std::vector{work_.join("a")}});
    ASSERT_TRUE(scope);
    const auto refused = sandbox.run(script);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message,
              "sandbox violation: process cwd '" + work_.text() + "' is outside workspace_roots [" + work_.join("a").text() + "]");
    auto inside = script;
    inside.argv.back() = "echo x > f; echo x > ../g";
    inside.cwd = work_.join("a");
    ASSERT_TRUE(sandbox.run(inside));
    EXPECT_TRUE(fs::exists(work_.join("a/f").text()));
    EXPECT_FALSE(fs::exists(work_.join("g").text()));
    EXPECT_EQ(sandbox.files()->write_text("g", "x").error().code, ErrorCode::refused);
  }
  ASSERT_TRUE(sandbox.run(script));
  EXPECT_TRUE(fs::exists(work_.join("g").text()));
  EXPECT_EQ(sandbox.files()->read_text("g"), "x\n");
}

// A command that could change its own rules is refused; a file operation must not do it either.
TEST_F(Embedded, FileOperationsLeaveHarnsOwnFilesAlone) {
  auto inside = context();
  inside.environment["XDG_STATE_HOME"] = work_.join("state").text();
  inside.environment["XDG_CONFIG_HOME"] = work_.join("config").text();
  const auto sandbox = Sandbox::open({}, inside);
  ASSERT_TRUE(sandbox) << describe(sandbox.error());
  const auto files = sandbox->files();
  ASSERT_TRUE(files);
  for (const auto* path : {"state/harn/trusted", "state/harn/facts/x", "config/harn/config.toml"})
    EXPECT_EQ(files->write_text(path, "x").error().code, ErrorCode::refused) << path;
  EXPECT_TRUE(files->write_text("config/other/f", "x"));
}

TEST_F(Embedded, OneCallMayPromoteAndNotDemote) {
  const auto sandbox = open();
  const auto promoted = sandbox.run(shell("true"), {.profile = Profile::os_hardened});
  ASSERT_TRUE(promoted) << describe(promoted.error());
  EXPECT_EQ(promoted->receipt.profile, "os_hardened");
  EXPECT_EQ(sandbox.run(shell("true"), {.profile = Profile::unrestricted}).error().code, ErrorCode::refused);
  const auto limited = sandbox.run(shell("sleep 60"), {.limits = {.wall_time = 200ms}});
  ASSERT_TRUE(limited);
  EXPECT_TRUE(limited->timed_out);
}

TEST_F(Embedded, GivesTheInputAndTellsEachPieceOfOutput) {
  const auto sandbox = open();
  std::string told;
  int pieces = 0;
  Call call{.input = std::string(300'000, 'x'), .captured_bytes = 10, .on_output = [&](Output which, std::string_view bytes) {
              ++pieces;
              if (which == Output::out) told += bytes;
            }};
  const auto outcome = sandbox.run(shell("cat; sleep 0.1; echo end"), call);
  ASSERT_TRUE(outcome) << describe(outcome.error());
  EXPECT_EQ(told.size(), 300'000u + 4);
  EXPECT_TRUE(told.ends_with("xend\n"));
  EXPECT_EQ(outcome->captured_stdout, std::string(10, 'x'));
  EXPECT_FALSE(outcome->output_truncated) << "nothing was lost";
  EXPECT_GT(pieces, 1);
}

TEST_F(Embedded, EndsWhenAskedFromAnotherThread) {
  const auto sandbox = open();
  auto stop = Stop::make();
  ASSERT_TRUE(stop);
  std::atomic<bool> begun = false;
  std::thread other([&] {
    while (!begun) std::this_thread::sleep_for(1ms);
    stop->request();
  });
  const auto started = std::chrono::steady_clock::now();
  // Deaf to SIGTERM, with a grandchild in a session of its own.
  const auto outcome = sandbox.run(shell("trap '' TERM; setsid sleep 60 & echo ready; sleep 60"),
                                   {.on_output = [&](Output, std::string_view) { begun = true; }, .stop = &*stop});
  other.join();
  ASSERT_TRUE(outcome) << describe(outcome.error());
  EXPECT_TRUE(outcome->cancelled);
  EXPECT_FALSE(outcome->timed_out);
  EXPECT_FALSE(outcome->success());
  EXPECT_EQ(outcome->captured_stdout, "ready\n") << "what it had said is kept";
  EXPECT_LT(std::chrono::steady_clock::now() - started, 5s);
  const auto again = sandbox.run(shell("sleep 60"), {.stop = &*stop});
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->cancelled) << "once asked, it stays so";
}

TEST_F(Embedded, EndsWhenAskedWithoutAPidNamespaceToo) {
  const auto sandbox = open({}, "userns=no,cgroup=no,bubblewrap=no,notify=no");
  auto stop = Stop::make();
  ASSERT_TRUE(stop);
  const auto outcome = sandbox.run(shell("trap '' TERM; echo ready; sleep 60 & wait"),
                                   {.on_output = [&](Output, std::string_view) { stop->request(); }, .stop = &*stop});
  ASSERT_TRUE(outcome) << describe(outcome.error());
  EXPECT_TRUE(outcome->cancelled);
  EXPECT_EQ(outcome->exit_code, -SIGKILL);
  const auto named = [](const Outcome& of) { return std::ranges::count(of.receipt.gaps, "outlives_run", &Gap::code); };
  EXPECT_EQ(named(*outcome), 1) << "what a session of its own would do is said";
  EXPECT_EQ(named(*open().run(shell("true"))), 0);
}

// A supervisor collects what left the command's process group, and ends it before itself.
TEST_F(Embedded, NothingOutlivesTheRunUnderASupervisor) {
  const auto sandbox = open({}, "userns=no,cgroup=no,bubblewrap=no");
  const auto script = "trap '' TERM; setsid sleep 60.125 & (setsid sleep 60.125 &); echo ready; wait; sleep 60.125";
  const auto outcome = sandbox.run(shell(script), {.wall_time = 300ms});
  ASSERT_TRUE(outcome) << describe(outcome.error());
  EXPECT_TRUE(outcome->timed_out);
  EXPECT_EQ(outcome->captured_stdout, "ready\n");
  EXPECT_EQ(std::ranges::count(outcome->receipt.gaps, "outlives_run", &Gap::code), 0);
  EXPECT_NE(std::system("pgrep -f 'sleep 60[.]125' > /dev/null"), 0) << "somebody lives on";
}

TEST_F(Embedded, KeepsTheTimeOfOneCall) {
  for (const auto profile : {Profile::worktree, Profile::unrestricted}) {
    const auto sandbox = open({.sandbox_profile = profile});
    const auto outcome = sandbox.run(shell("echo partial; sleep 60"), {.wall_time = 300ms});
    ASSERT_TRUE(outcome) << describe(outcome.error());
    EXPECT_TRUE(outcome->timed_out);
    EXPECT_EQ(outcome->captured_stdout, "partial\n");
  }
}

TEST_F(Embedded, ManyThreadsRunAtOnceAndNoDescriptorIsLeft) {
  const auto sandbox = open();
  ASSERT_TRUE(sandbox.run(shell("true")));
  const auto before = open_descriptors();
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 4; ++round) {
        const auto text = std::to_string(100 * i + round);
        const auto outcome = sandbox.run(shell("echo " + text));
        if (outcome && outcome->captured_stdout == text + "\n") ++right;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 64);
  EXPECT_EQ(open_descriptors(), before);
}

// Proving anew and running must not touch anybody else's children.
TEST_F(Embedded, OtherChildrenOfTheProgramLive) {
  pid_t child = -1;
  std::string words[] = {"sleep", "60"};
  char* argv[] = {words[0].data(), words[1].data(), nullptr};
  ASSERT_EQ(::posix_spawnp(&child, argv[0], nullptr, nullptr, argv, nullptr), 0);
  ASSERT_TRUE(open().run(shell("(setsid sleep 30 &) ; true")));
  EXPECT_EQ(::waitpid(child, nullptr, WNOHANG), 0) << "it was ended";
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_F(Embedded, SignalsDirectoryAndMaskOfTheProgramStay) {
  sigset_t mask_before;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_before);
  const auto cwd_before = fs::current_path();
  const auto umask_before = ::umask(027);
  ::umask(027);
  struct sigaction defaults = {};
  defaults.sa_handler = SIG_DFL;
  struct sigaction pipe_before = {};
  ::sigaction(SIGPIPE, &defaults, &pipe_before);
  std::vector<struct sigaction> actions_before(NSIG);
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, nullptr, &actions_before[static_cast<std::size_t>(number)]);

  const auto sandbox = open();
  // It closes its input at once: with the default action SIGPIPE would end this program here.
  const auto outcome = sandbox.run(shell("exec 0<&-; sleep 0.2; echo alive"), {.input = std::string(1 << 20, 'x')});
  ASSERT_TRUE(outcome) << describe(outcome.error());
  EXPECT_EQ(outcome->captured_stdout, "alive\n");

  struct sigaction now = {};
  for (int number = 1; number < NSIG; ++number) {
    if (::sigaction(number, nullptr, &now) != 0) continue;
    EXPECT_EQ(now.sa_handler, actions_before[static_cast<std::size_t>(number)].sa_handler) << number;
  }
  ::sigaction(SIGPIPE, &pipe_before, &now);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
  sigset_t mask_after;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_after);
  for (int number = 1; number < NSIG; ++number)
    EXPECT_EQ(::sigismember(&mask_after, number), ::sigismember(&mask_before, number)) << number;
  sigset_t pending;
  ::sigpending(&pending);
  EXPECT_EQ(::sigismember(&pending, SIGPIPE), 0);
  EXPECT_EQ(fs::current_path(), cwd_before);
  EXPECT_EQ(::umask(umask_before), mode_t{027});
}

// A program that ignores SIGCHLD has its children reaped by the kernel.
TEST_F(Embedded, SaysSoWhenSomebodyElseTookTheEnding) {
  const auto viewed = open();
  const auto supervised = open({}, "userns=no,bubblewrap=no");
  const auto bare = open({}, "userns=no,bubblewrap=no,notify=no");
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  struct sigaction before = {};
  ::sigaction(SIGCHLD, &ignore, &before);
  const auto with_view = viewed.run(shell("exit 7"));
  const auto with_supervisor = supervised.run(shell("exit 7"));
  const auto without = bare.run(shell("exit 7"));
  ::sigaction(SIGCHLD, &before, nullptr);
  ASSERT_TRUE(with_view) << describe(with_view.error());
  EXPECT_EQ(with_view->exit_code, 7) << "init told it";
  ASSERT_TRUE(with_supervisor) << describe(with_supervisor.error());
  EXPECT_EQ(with_supervisor->exit_code, 7) << "the supervisor told it";
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().os_error, ECHILD);
}

TEST_F(Embedded, BlockedCommandsAndForeignDirectoriesAreRefused) {
  const auto sandbox = open({.blocked_commands = {"curl"}});
  const auto blocked = sandbox.run({.argv = {"/usr/bin/curl", "example.org"}});
  ASSERT_FALSE(blocked);
  EXPECT_EQ(blocked.error().message, "Command blocked by sandbox policy: contains 'curl'");
  const auto elsewhere = sandbox.run({.argv = {"true"}, .cwd = AbsPath::of("/usr")});
  ASSERT_FALSE(elsewhere);
  EXPECT_TRUE(elsewhere.error().message.starts_with("sandbox violation: process cwd '/usr' is outside workspace_roots"));
}

TEST_F(Embedded, TheMemoryOfTheProgramIsNotTheCommands) {
  const std::string ballast(200u << 20, 'x');
  const auto outcome = open().run(shell("true"));
  ASSERT_TRUE(outcome);
  EXPECT_LT(outcome->usage.max_memory_bytes, ballast.size() / 2);
}

}  // namespace
}  // namespace harn

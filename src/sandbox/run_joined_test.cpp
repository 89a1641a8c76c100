// SPDX-License-Identifier: Apache-2.0
// Commands in a view that is kept: what they see, how they end, and that nobody else gets in.
#include <errno.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "harn/probe.h"
#include "run/keeper_talk.h"
#include "run/stdio.h"
#include "sandbox/run_joined.h"

namespace harn::sandbox {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using run::keeper::Kind;

class Joining : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/var/tmp/harn-joined-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    ground_ = AbsPath::of(name);
    for (const auto* part : {"work", "out", "keeper"}) fs::create_directory(ground_.join(part).text());
    ::chmod(ground_.join("keeper").text().c_str(), 0700);
    std::ofstream(ground_.join("out/canary").text()) << "outside";
    facts_ = probe_host({.environment = {{"PATH", "/usr/bin:/bin"}, {"HOME", "/nonexistent"}}, .cwd = work()});
    facts_.project_root = work();
    if (!facts_.linux.user_namespaces) GTEST_SKIP() << "no user namespaces";
  }
  void TearDown() override {
    if (pid_ > 0) {
      EXPECT_TRUE(run::end_keeper(keeper(), pid_));
    }
    fs::remove_all(ground_.text());
  }

  AbsPath work() const { return ground_.join("work"); }
  AbsPath keeper() const { return ground_.join("keeper"); }

  void keep(std::uint64_t idle_ms = 0, std::uint64_t lifetime_ms = 0, bool shows_socket = false) {
    Policy policy;
    policy.workspace_roots = {work()};
    if (shows_socket) policy.workspace_roots->push_back(keeper());
    look_at_paths(facts_, policy);
    auto made = make_plan(policy, {.argv = {"true"}, .environment = {{"PATH", "/usr/bin:/bin"}}}, facts_);
    ASSERT_TRUE(made);
    plan_ = *made;
    ASSERT_TRUE(check_keepable(plan_));
    auto kept = run::keep_view(
        plan_, {.directory = keeper(), .idle_ms = idle_ms, .lifetime_ms = lifetime_ms, .canary = ground_.join("out/canary")});
    ASSERT_TRUE(kept) << kept.error().message;
    pid_ = kept->pid;
    proofs_ = kept->proofs;
  }

  Result<Outcome> run(std::vector<std::string> argv, std::string input = {}, bool keeps = false) const {
    auto plan = plan_;
    plan.argv = std::move(argv);
    return run_joined(plan,
                      {.streams = {input.empty() ? Stream::empty : Stream::capture, Stream::capture, Stream::capture},
                       .input = std::move(input),
                       .receipt = false},
                      {.directory = keeper(), .keeps_processes = keeps});
  }
  static Result<run::Process> started(const Plan& plan, run::JoinRequest request) {
    HARN_TRY(asked, run::ask_to_join(plan, std::move(request)));
    return run::start_asked(std::move(asked));
  }
  std::string output(const std::string& script) const {
    auto outcome = run({"/bin/sh", "-c", script});
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? *outcome->captured_stdout + *outcome->captured_stderr : std::string();
  }

  AbsPath ground_ = {};
  HostFacts facts_ = {};
  Plan plan_ = {};
  pid_t pid_ = -1;
  run::Proofs proofs_ = {};
};

TEST_F(Joining, RunsOneAfterTheOther) {
  keep();
  EXPECT_EQ(output("echo one; pwd"), "one\n" + work().text() + "\n");
  EXPECT_EQ(output("echo kept > /tmp/note"), "");
  EXPECT_EQ(output("cat /tmp/note"), "kept\n");
  const auto failed = run({"/bin/sh", "-c", "exit 7"});
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->exit_code, 7);
  const auto killed = run({"/bin/sh", "-c", "kill -9 $$"});
  ASSERT_TRUE(killed);
  EXPECT_EQ(killed->exit_code, -9);
  const auto fed = run({"cat"}, "through");
  ASSERT_TRUE(fed);
  EXPECT_EQ(fed->captured_stdout, "through");
  EXPECT_TRUE(std::ranges::find(proofs_, Dimension::reads) != proofs_.end());
}

TEST_F(Joining, SaysWhatCannotBeStarted) {
  keep();
  const auto missing = run({"no-such-program"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::invalid_command);
  EXPECT_EQ(missing.error().os_error, ENOENT);
  std::ofstream(work().join("text").text()) << "echo script $1\n";
  EXPECT_EQ(run({"./text"}).error().os_error, EACCES);
  ::chmod(work().join("text").text().c_str(), 0755);
  const auto script = run({"./text", "word"});
  ASSERT_TRUE(script);
  EXPECT_EQ(script->captured_stdout, "script word\n");
}

TEST_F(Joining, ManyAtOnceEndSeparately) {
  keep();
  std::vector<std::thread> threads;
  std::array<int, 12> codes = {};
  for (std::size_t i = 0; i < codes.size(); ++i)
    threads.emplace_back([&, i] {
      const auto outcome = run({"/bin/sh", "-c", "sleep 0.1; exit " + std::to_string(i + 1)});
      codes[i] = outcome ? outcome->exit_code : -1000;
    });
  for (auto& thread : threads) thread.join();
  for (std::size_t i = 0; i < codes.size(); ++i) EXPECT_EQ(codes[i], static_cast<int>(i) + 1);
}

TEST_F(Joining, WhatACommandLeavesEndsWithItUnlessItMayStay) {
  keep();
  EXPECT_EQ(output("setsid sleep 100 & setsid sh -c 'sleep 100' & echo left"), "left\n");
  EXPECT_EQ(output("ps -e -o comm= | grep -c sleep"), "0\n");
  ASSERT_TRUE(run({"/bin/sh", "-c", "setsid sleep 100 >/dev/null 2>&1 </dev/null &"}, {}, /*keeps=*/true));
  // The shell has ended before the other has become what it is to be.
  std::string seen;
  for (int i = 0; i < 200 && seen != "1\n"; ++i) seen = output("ps -e -o comm= | grep -c sleep");
  EXPECT_EQ(seen, "1\n");
}

TEST_F(Joining, TheKeeperAndItsHoldersAreClosed) {
  keep();
  for (const auto* script :
       {"cat /proc/1/auxv", "cat /proc/1/fd/3", "readlink /proc/1/fd/5", "cat /proc/1/maps", "cat /proc/1/mem", "kill -9 1 && echo gone",
        "for p in $(ps -e -o pid=,comm= | awk '$2==\"harn-holder\"{print $1}'); do cat /proc/$p/auxv /proc/$p/maps; done"})
    EXPECT_TRUE(output(script).find("denied") != std::string::npos || output(script).find("permitted") != std::string::npos ||
                output(script).empty())
        << script << ": " << output(script);
  // An exit code after which init would look at its own counters, and open itself for that.
  const auto limited = run({"/bin/sh", "-c", "exit 153"});
  ASSERT_TRUE(limited);
  EXPECT_EQ(limited->exit_code, 153);
  EXPECT_NE(output("cat /proc/1/auxv").find("denied"), std::string::npos);
  EXPECT_EQ(output("echo still here"), "still here\n");
  // Nor is there a way to its socket.
  EXPECT_NE(output("ls " + keeper().text()).find("No such file"), std::string::npos);
}

// Where somebody opened the directory of the socket to the session by mistake.
TEST_F(Joining, WhoeverIsInsideIsTurnedAway) {
  keep(0, 0, /*shows_socket=*/true);
  const auto script = "import socket,struct\ns=socket.socket(socket.AF_UNIX)\ns.connect('" + keeper().join(run::keeper_socket.name).text() +
                      "')\ns.send(struct.pack('IIIIII',0x6b657031,3,0,0,0,0))\nprint(len(s.recv(100)))\n";
  std::ofstream(work().join("ask.py").text()) << script;
  // The control: from outside it is answered.
  FILE* outside = ::popen(("python3 " + work().join("ask.py").text()).c_str(), "r");
  ASSERT_NE(outside, nullptr);
  int length = 0;
  EXPECT_EQ(::fscanf(outside, "%d", &length), 1);
  ::pclose(outside);
  EXPECT_EQ(length, static_cast<int>(sizeof(run::keeper::State)));
  const auto inside = run({"python3", "ask.py"});
  ASSERT_TRUE(inside);
  const auto said = *inside->captured_stdout + *inside->captured_stderr;
  EXPECT_TRUE(said == "0\n" || said.find("Error") != std::string::npos) << said;
}

TEST_F(Joining, ACommandHoldsItsStreamsAndNothingElse) {
  keep();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(output("ls /proc/self/fd | tr '\\n' ' '"), "0 1 2 3 ") << i;
  EXPECT_EQ(output("grep -E 'CapEff|CapBnd|NoNewPrivs|Seccomp:' /proc/self/status | tr -d '\\t' | tr '\\n' ' '"),
            "CapEff:0000000000000000 CapBnd:0000000000000000 NoNewPrivs:1 Seccomp:2 ");
}

TEST_F(Joining, TheDirectoryMustBeItsOwners) {
  ::chmod(keeper().text().c_str(), 0755);
  EXPECT_EQ(run::listen_in(keeper()).error().os_error, EPERM);
  fs::remove(keeper().text());
  fs::create_directory_symlink(ground_.join("out").text(), keeper().text());
  EXPECT_FALSE(run::listen_in(keeper()));
}

TEST_F(Joining, GarbageHarmsNobody) {
  keep();
  for (const auto& text : {std::string("x"), std::string(4096, '\0'), std::string(sizeof(run::keeper::Order), 'k')}) {
    auto connection = run::connect_in(keeper());
    ASSERT_TRUE(connection);
    std::ignore = ::send(connection->get(), text.data(), text.size(), MSG_NOSIGNAL);
  }
  auto connection = run::connect_in(keeper());
  ASSERT_TRUE(connection);
  const auto answer =
      run::ask_with_letter(connection->get(), {.kind = Kind::exec}, std::string(400, '\xff') + std::string(1, '\0'), std::array{0, 0});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->answer.report.error, EBADMSG);
  EXPECT_EQ(output("echo fine"), "fine\n");
}

TEST_F(Joining, SuspendsAndResumes) {
  keep();
  ASSERT_TRUE(
      run({"/bin/sh", "-c", "setsid sh -c 'while :; do echo x >> ticks; sleep 0.01; done' >/dev/null 2>&1 </dev/null &"}, {}, true));
  while (!fs::exists(work().join("ticks").text())) std::this_thread::sleep_for(1ms);
  auto state = run::ask_keeper(keeper(), Kind::suspend);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->suspended, 1u);
  std::this_thread::sleep_for(30ms);
  const auto before = fs::file_size(work().join("ticks").text());
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(fs::file_size(work().join("ticks").text()), before);
  EXPECT_EQ(output("echo awake"), "awake\n");  // the next command resumes
  EXPECT_EQ(run::ask_keeper(keeper(), Kind::state)->suspended, 0u);
  std::this_thread::sleep_for(100ms);
  EXPECT_GT(fs::file_size(work().join("ticks").text()), before);
}

TEST_F(Joining, IdleSuspendsAndLifeEnds) {
  keep(/*idle_ms=*/100, /*lifetime_ms=*/1500);
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(run::ask_keeper(keeper(), Kind::state)->suspended, 1u);
  EXPECT_EQ(output("echo awake"), "awake\n");
  std::this_thread::sleep_for(1500ms);
  EXPECT_EQ(run::ask_keeper(keeper(), Kind::state).error().os_error, ECONNREFUSED);
  pid_ = -1;
}

TEST_F(Joining, AKilledHolderLeavesNobody) {
  keep();
  auto plan = plan_;
  plan.argv = {"/bin/sh", "-c", "setsid sleep 100 & sleep 100"};
  auto stdio = run::open_stdio({.streams = {Stream::empty, Stream::empty, Stream::empty}});
  ASSERT_TRUE(stdio);
  auto process = started(plan, {.directory = keeper(), .stdio = stdio->child});
  ASSERT_TRUE(process);
  std::this_thread::sleep_for(50ms);
  process->kill_holder();
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(output("ps -e -o comm= | grep -c sleep"), "0\n");
}

TEST_F(Joining, ALostLauncherEndsItsCommand) {
  keep();
  auto plan = plan_;
  plan.argv = {"/bin/sh", "-c", "setsid sleep 100 & sleep 100"};
  {
    auto stdio = run::open_stdio({.streams = {Stream::empty, Stream::empty, Stream::empty}});
    auto process = started(plan, {.directory = keeper(), .stdio = stdio->child});
    ASSERT_TRUE(process);
  }
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(output("ps -e -o comm= | grep -c sleep"), "0\n");
}

TEST_F(Joining, NothingStartsWithoutTheWord) {
  keep();
  auto plan = plan_;
  plan.argv = {"/usr/bin/touch", work().join("ran").text()};
  plan.cwd = work();
  auto stdio = run::open_stdio({.streams = {Stream::empty, Stream::empty, Stream::empty}});
  ASSERT_TRUE(stdio);
  {
    auto asked = run::ask_to_join(plan, {.directory = keeper(), .stdio = stdio->child, .waits = true});
    ASSERT_TRUE(asked) << asked.error().message;
    for (int i = 0; i < 500 && run::ask_keeper(keeper(), Kind::state)->execs == 0; ++i) std::this_thread::sleep_for(2ms);
    EXPECT_EQ(run::ask_keeper(keeper(), Kind::state)->execs, 1u);
    EXPECT_FALSE(fs::exists(work().join("ran").text()));
  }
  for (int i = 0; i < 500 && run::ask_keeper(keeper(), Kind::state)->execs != 0; ++i) std::this_thread::sleep_for(2ms);
  EXPECT_EQ(run::ask_keeper(keeper(), Kind::state)->execs, 0u);
  EXPECT_FALSE(fs::exists(work().join("ran").text()));
  EXPECT_EQ(output("echo others go on"), "others go on\n");
}

// A connection that waits for the next command knows nothing of what happens to the session meanwhile.
TEST_F(Joining, AReservedLineOutlivesSleepAndNewRules) {
  keep();
  run::Line line(/*lasting=*/true);
  const auto say = [&](const std::string& word) {
    auto plan = plan_;
    plan.argv = {"/bin/echo", word};
    auto outcome = run_joined(plan, {.streams = {Stream::empty, Stream::capture, Stream::capture}, .receipt = false},
                              {.directory = keeper(), .line = &line});
    return outcome ? *outcome->captured_stdout : outcome.error().message;
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(say("one"), "one\n");
  ASSERT_TRUE(run::ask_keeper(keeper(), Kind::suspend));
  EXPECT_EQ(say("woken"), "woken\n");
  EXPECT_EQ(run::ask_keeper(keeper(), Kind::state)->suspended, 0u);
  ASSERT_TRUE(run::ask_keeper(keeper(), Kind::refresh));
  EXPECT_EQ(say("refreshed"), "refreshed\n");
  EXPECT_EQ(say("again"), "again\n");
  // One that waits is no command: the session is idle.
  EXPECT_EQ(run::ask_keeper(keeper(), Kind::state)->execs, 0u);
  ASSERT_TRUE(run::end_keeper(keeper(), pid_));
  pid_ = -1;
  EXPECT_NE(say("too late"), "too late\n");
}

}  // namespace
}  // namespace harn::sandbox

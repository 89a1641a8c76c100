// SPDX-License-Identifier: Apache-2.0
// Runs for real, without a container: pipes, words, variables, handles, deadlines, and the end of the whole tree.
#include <windows.h>
// after windows.h
#include <shellapi.h>

#include <fstream>

#include <fmt/format.h>

#include "base/utf16.h"
#include "run/windows/command_line.h"
#include "run/windows/os/ground.h"
#include "run/windows/split_line.h"

namespace harn::run::windows {
namespace {

using std::chrono::milliseconds;

class Lifetime : public Ground {};

std::string hex_of(std::string_view text) {
  std::string out;
  const auto units = base::to_utf16(text).value();
  for (const char16_t unit : units) out += fmt::format("{:04x}", static_cast<unsigned>(unit));
  return out + "\n";
}

TEST_F(Lifetime, TheSystemSplitsOurLinesIntoTheSameWords) {
  for (const auto& words : hard_arguments()) {
    const auto line = wide(*command_line(words));
    int count = 0;
    wchar_t** list = ::CommandLineToArgvW(line->c_str(), &count);
    std::vector<std::string> got;
    for (int i = 0; i < count; ++i) got.push_back(narrow(list[i]).value());
    ::LocalFree(list);
    ASSERT_EQ(got, words) << *command_line(words);
  }
}

TEST_F(Lifetime, WordsArriveAsTheyWereWritten) {
  const std::vector<std::string> words = {"plain", "", "two words", "C:\\dir\\", "a \"quoted\\\" end\\", "zwölf 😀", "%PATH%", "*.txt"};
  auto all = words;
  all.insert(all.begin(), "words");
  std::string expected;
  for (const auto& word : words) expected += hex_of(word);
  EXPECT_EQ(run(plan_for(all)).captured_stdout, expected);
}

TEST_F(Lifetime, PipesCarryEveryByteBothWays) {
  std::string bytes;
  for (int i = 0; i < 300'000; ++i) bytes += static_cast<char>(i * 7 + i / 256);
  const auto outcome = run(plan_for({"cat"}), captured(bytes));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(outcome.captured_stdout == bytes);
  EXPECT_EQ(outcome.captured_stderr, "");
  EXPECT_FALSE(outcome.output_truncated);
}

TEST_F(Lifetime, OutputsAreApart) {
  const auto outcome = run(plan_for({"complain"}));
  EXPECT_EQ(outcome.captured_stdout, "");
  EXPECT_EQ(outcome.captured_stderr, "oh\n");
}

TEST_F(Lifetime, ExitCodesAreTheCommandsOwn) {
  EXPECT_EQ(run(plan_for({"exit", "0"})).exit_code, 0);
  EXPECT_EQ(run(plan_for({"exit", "7"})).exit_code, 7);
  EXPECT_FALSE(run(plan_for({"exit", "300"})).success());
}

TEST_F(Lifetime, OutputPastTheLimitIsDroppedAndTheCommandGoesOn) {
  auto plan = plan_for({"flood", "200"});
  plan.limits.max_output_bytes = 1500;
  const auto outcome = run(plan);
  EXPECT_EQ(outcome.captured_stdout, std::string(1500, 'x'));
  EXPECT_TRUE(outcome.output_truncated);
  EXPECT_EQ(outcome.exit_code, 0);
}

TEST_F(Lifetime, TheEnvironmentIsTheOnePlanned) {
  auto plan = plan_for({"variable", "Harn_Test"});
  plan.env.variables["HARN_TEST"] = "zwölf = 12";
  EXPECT_EQ(run(plan).captured_stdout, hex_of("zwölf = 12"));
  plan = plan_for({"variable", "USERNAME"});
  EXPECT_EQ(run(plan).captured_stdout, "\n") << "nothing else is handed down";
}

TEST_F(Lifetime, TheDeadlineEndsTheCommand) {
  auto plan = plan_for({"sleep", "600000"});
  plan.limits.wall_time_ms = 300;
  const auto outcome = run(plan);
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_EQ(outcome.exit_code, -9);
}

TEST_F(Lifetime, TheDeadlineEndsTheWholeTree) {
  auto plan = plan_for({"gather"});
  Outcome outcome;
  // As long as it takes to start a second process here.
  for (std::uint64_t time = 1000; time < 100'000 && outcome.captured_stdout.value_or("").empty(); time *= 4) {
    plan.limits.wall_time_ms = time;
    outcome = run(plan);
    EXPECT_TRUE(outcome.timed_out);
  }
  ASSERT_TRUE(outcome.captured_stdout && !outcome.captured_stdout->empty()) << "what was said before is kept";
  EXPECT_TRUE(is_gone(std::stoul(*outcome.captured_stdout)));
}

TEST_F(Lifetime, NothingOutlivesTheCommand) {
  const auto outcome = run(plan_for({"leave"}));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_GE(outcome.killed_processes, 1u) << "and perhaps the host of its console";
  ASSERT_TRUE(outcome.captured_stdout && !outcome.captured_stdout->empty());
  EXPECT_TRUE(is_gone(std::stoul(*outcome.captured_stdout)));
  EXPECT_EQ(outcome.error, "");
}

TEST_F(Lifetime, AStopEndsTheCommand) {
  const UniqueHandle stop(::CreateEventW(nullptr, TRUE, TRUE, nullptr));
  const auto outcome = run(plan_for({"sleep", "600000"}), captured(), stop.get());
  EXPECT_TRUE(outcome.cancelled);
  EXPECT_FALSE(outcome.success());
}

TEST_F(Lifetime, TheJobsLastHandleEndsChildAndGrandchild) {
  const UniqueHandle heard(::CreateEventW(nullptr, TRUE, FALSE, nullptr));
  std::string grandchild;
  auto rules = captured();
  rules.on_output = [&](Output, std::string_view bytes) {
    grandchild += bytes;
    if (grandchild.ends_with('\n')) ::SetEvent(heard.get());
  };
  auto streams = Streams::open(std::move(rules));
  ASSERT_TRUE(streams);
  const auto job = calls.create_job();
  ASSERT_TRUE(job);
  ASSERT_TRUE(calls.limit_job(*job, bare_job().limits));
  const auto words = plan_for({"gather"}).argv;
  const auto child = calls.spawn_suspended({.program = native_path(probe),
                                            .line = *command_line(words),
                                            .environment = *environment_block(plan_for({}).env.variables),
                                            .cwd = native_path(path_from(place)),
                                            .streams = streams->child_ends(),
                                            .job = *job});
  ASSERT_TRUE(child);
  EXPECT_TRUE(calls.is_in_job(child->process, *job).value()) << "from birth";
  ASSERT_TRUE(calls.resume(child->thread));
  streams->serve();
  ASSERT_EQ(::WaitForSingleObject(heard.get(), 20'000), WAIT_OBJECT_0);
  calls.close(*job);
  EXPECT_TRUE(is_gone(static_cast<DWORD>(child->id)));
  EXPECT_TRUE(is_gone(std::stoul(grandchild)));
  calls.close(child->process);
  calls.close(child->thread);
}

TEST_F(Lifetime, OnlyTheThreeStreamsAreHandedDown) {
  SECURITY_ATTRIBUTES inheritable = {.nLength = sizeof inheritable, .lpSecurityDescriptor = nullptr, .bInheritHandle = TRUE};
  const UniqueHandle event(::CreateEventW(&inheritable, TRUE, FALSE, nullptr));
  const auto number = std::to_string(reinterpret_cast<std::uintptr_t>(event.get()));
  EXPECT_EQ(run(plan_for({"handle", number})).captured_stdout, "unknown\n");

  // The control: without a list the same handle is handed down.
  auto line = wide(*command_line(plan_for({"handle", number}).argv)).value();
  HANDLE read = nullptr;
  HANDLE write = nullptr;
  ASSERT_NE(::CreatePipe(&read, &write, &inheritable, 0), 0);
  STARTUPINFOW start = {};
  start.cb = sizeof start;
  start.dwFlags = STARTF_USESTDHANDLES;
  start.hStdOutput = write;
  PROCESS_INFORMATION made = {};
  ASSERT_NE(::CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE, 0, nullptr, nullptr, &start, &made), 0);
  ::CloseHandle(write);
  char said[64] = {};
  DWORD got = 0;
  ::ReadFile(read, said, sizeof said - 1, &got, nullptr);
  EXPECT_STREQ(said, "mine\n");
  ::CloseHandle(read);
  ::CloseHandle(made.hThread);
  ::CloseHandle(made.hProcess);
}

TEST_F(Lifetime, BatchFilesGetTheirWordsUnchanged) {
  std::ofstream(place / "tool.cmd", std::ios::binary) << "@\"" << native_path(probe) << "\" words %*\r\n";
  const std::vector<std::string> words = {"plain", "two words", "a&b|c>d<e", "^caret", "!bang!", "(x)"};
  auto plan = plan_for(words);
  plan.argv.front() = ".\\tool";
  std::string expected;
  for (const auto& word : words) expected += hex_of(word);
  const auto outcome = run(plan);
  EXPECT_EQ(outcome.captured_stdout, expected) << *outcome.captured_stderr;
  EXPECT_FALSE(std::filesystem::exists(place / "d"));
}

TEST_F(Lifetime, AProgramThatIsNotThereIsAnErrorAndNotAnOutcome) {
  auto plan = plan_for({});
  plan.argv = {"no-such-program"};
  auto streams = Streams::open(captured());
  ASSERT_TRUE(streams);
  const auto made = launched(plan, *streams);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::invalid_command);
}

TEST_F(Lifetime, TheProcessorTimeOfTheTreeIsWatched) {
  auto plan = plan_for({"burn"});
  plan.limits.watched["cpu_seconds"] = 1;
  plan.limits.wall_time_ms = on_wine() ? 2'000 : 60'000;  // where the job's accounts stay empty
  const auto outcome = run(plan);
  if (!outcome.cpu_exceeded && on_wine()) GTEST_SKIP() << "this wine does not count processor time in jobs";
  EXPECT_TRUE(outcome.cpu_exceeded);
  EXPECT_EQ(outcome.exit_code, -24);
}

}  // namespace
}  // namespace harn::run::windows

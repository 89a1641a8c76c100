// SPDX-License-Identifier: Apache-2.0
// harn.exe from outside, as somebody at a prompt has it. Under wine nothing can be confined, which every answer must say.
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "base/json.h"
#include "run/windows/os/ground.h"

namespace harn::run::windows {
namespace {

using namespace std::string_literals;

class Harn : public Ground {
 protected:
  // Of the caller only what a program needs to start, and where its own files are.
  Outcome harn(std::vector<std::string> words, std::string input = {}) {
    auto plan = plan_for({});
    plan.argv = std::move(words);
    plan.argv.insert(plan.argv.begin(), program());
    plan.env.variables["USERPROFILE"] = native_path(path_from(place.parent_path() / "home"));
    for (const auto& [name, value] : variables) plan.env.variables[name] = value;
    plan.limits.wall_time_ms = 60'000;
    return run(plan, captured(std::move(input)));
  }

  std::string program() const {
    wchar_t self[1024] = {};
    ::GetModuleFileNameW(nullptr, self, 1024);
    return narrow((std::filesystem::path(self).parent_path().parent_path().parent_path().parent_path() / L"harn.exe").wstring()).value();
  }
  std::string probe_program() const {
    wchar_t self[1024] = {};
    ::GetModuleFileNameW(nullptr, self, 1024);
    const auto source = std::filesystem::path(self).parent_path().parent_path().parent_path();
    return narrow((source / L"run" / L"windows" / L"os" / L"harn_windows_probe.exe").wstring()).value();
  }
  std::string mark() const { return narrow((place / "mark").wstring()).value(); }
  bool marked() const { return std::filesystem::exists(place / "mark"); }

  std::map<std::string, std::string> variables = {};
};

bool says(const std::optional<std::string>& text, std::string_view word) { return text && text->find(word) != std::string::npos; }

TEST_F(Harn, SaysWhatItIs) {
  EXPECT_TRUE(says(harn({"version"}).captured_stdout, "harn "));
  EXPECT_TRUE(says(harn({"help"}).captured_stdout, "doctor"));
  EXPECT_EQ(harn({"no-such-verb"}).exit_code, 2);
}

TEST_F(Harn, RunsWithoutASandboxWhenToldTo) {
  const auto outcome = harn({"run", "--no-sandbox", "--", probe_program(), "exit", "7"});
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_TRUE(says(outcome.captured_stderr, "nothing confines this command")) << *outcome.captured_stderr;
}

TEST_F(Harn, PassesBytesThrough) {
  const auto outcome = harn({"run", "--no-sandbox", "--", probe_program(), "cat"}, "ein\0 zwei\r\n\x1a drei"s);
  EXPECT_EQ(outcome.captured_stdout, "ein\0 zwei\r\n\x1a drei"s);
}

TEST_F(Harn, LeavesNothingRunning) {
  const auto outcome = harn({"run", "--no-sandbox", "--", probe_program(), "leave"});
  ASSERT_TRUE(outcome.captured_stdout && !outcome.captured_stdout->empty());
  EXPECT_TRUE(is_gone(std::stoul(*outcome.captured_stdout)));
}

TEST_F(Harn, TellsAProgramThatIsNotThere) { EXPECT_EQ(harn({"run", "--no-sandbox", "--", "no-such-program"}).exit_code, 127); }

TEST_F(Harn, RefusesTheStrictProfileWhereNothingConfines) {
  if (!on_wine()) GTEST_SKIP() << "this system may be able to confine";
  const auto outcome = harn({"run", "--profile", "os_hardened", "--", probe_program(), "mark", mark()});
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_TRUE(says(outcome.captured_stderr, "DeriveAppContainerSidFromAppContainerName")) << *outcome.captured_stderr;
  EXPECT_FALSE(marked());
}

TEST_F(Harn, RefusesWhereTheOperatorEnforces) {
  if (!on_wine()) GTEST_SKIP() << "this system may be able to confine";
  variables["HARN_HANDLER_SANDBOX"] = "enforce";
  EXPECT_EQ(harn({"run", "--", probe_program(), "mark", mark()}).exit_code, 125);
  EXPECT_FALSE(marked());
}

TEST_F(Harn, SaysSoWhereItRunsUnconfinedUnderTheDefaultProfile) {
  if (!on_wine()) GTEST_SKIP() << "this system may be able to confine";
  const auto outcome = harn({"run", "--", probe_program(), "mark", mark()});
  EXPECT_EQ(outcome.exit_code, 0) << *outcome.captured_stderr;
  EXPECT_TRUE(says(outcome.captured_stderr, "nothing confines this command"));
  EXPECT_TRUE(says(outcome.captured_stderr, "no backend works on this host"));
}

TEST_F(Harn, AnswersInJsonWithAReceiptThatClaimsNothing) {
  const auto file = place.parent_path() / "receipt.json";
  const auto outcome =
      harn({"run", "--no-sandbox", "--json", "--receipt", narrow(file.wstring()).value(), "--", probe_program(), "complain"});
  const auto answer = base::parse_json(outcome.captured_stdout.value_or(""));
  ASSERT_TRUE(answer) << *outcome.captured_stdout << *outcome.captured_stderr;
  EXPECT_EQ(answer->find("stderr")->string(), "oh\n");
  std::ifstream in(file, std::ios::binary);
  const auto receipt = base::parse_json(std::string(std::istreambuf_iterator<char>(in), {}));
  ASSERT_TRUE(receipt);
  EXPECT_EQ(receipt->find("backend")->string(), "noop");
}

TEST_F(Harn, PlansForEverySystem) {
  for (const auto* platform : {"linux", "macos", "windows", "openbsd"}) {
    const auto outcome = harn({"plan", "--platform", platform, "--", "make"});
    EXPECT_EQ(outcome.exit_code, 0) << platform << ": " << *outcome.captured_stderr;
    EXPECT_TRUE(says(outcome.captured_stdout, "make"));
  }
  EXPECT_TRUE(says(harn({"plan", "--platform", "windows", "--native", "--", "make"}).captured_stdout, "C:\\Users\\me\\project"));
}

TEST_F(Harn, TheDoctorSaysWhyNothingWorks) {
  if (!on_wine()) GTEST_SKIP() << "this system may be able to confine";
  const auto outcome = harn({"doctor"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(says(outcome.captured_stdout, "appcontainer")) << *outcome.captured_stdout;
  EXPECT_TRUE(says(outcome.captured_stdout, "backend noop"));
  EXPECT_TRUE(base::parse_json(harn({"doctor", "--json"}).captured_stdout.value_or("")));
}

TEST_F(Harn, WhenItDiesItsTreeDies) {
  const UniqueHandle heard(::CreateEventW(nullptr, TRUE, FALSE, nullptr));
  std::string grandchild;
  auto rules = captured();
  rules.on_output = [&](Output, std::string_view bytes) {
    grandchild += bytes;
    if (grandchild.ends_with('\n')) ::SetEvent(heard.get());
  };
  auto streams = Streams::open(std::move(rules));
  ASSERT_TRUE(streams);
  auto plan = plan_for({});
  plan.argv = {program(), "run", "--no-sandbox", "--", probe_program(), "gather"};
  plan.env.variables["USERPROFILE"] = native_path(path_from(place));
  // Not through our own job: that would end everything by itself.
  auto unlimited = calls;
  unlimited.limit_job = [](Handle, const JobLimits&) -> Status { return {}; };
  unlimited.end_job = [](Handle) {};
  auto made =
      launch(unlimited,
             {.plan = plan, .streams = streams->child_ends(), .run_id = "x", .is_file = is_file, .batch_interpreter = batch_interpreter()});
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_TRUE(made->resume());
  streams->serve();
  // Its standard error comes first; the number is what standard output says.
  for (int i = 0; i < 100 && grandchild.find_first_of("0123456789") == std::string::npos; ++i) {
    ::WaitForSingleObject(heard.get(), 200);
    ::ResetEvent(heard.get());
  }
  const auto digits = grandchild.find_last_of("0123456789");
  ASSERT_NE(digits, std::string::npos) << grandchild;
  const auto start = grandchild.find_last_not_of("0123456789", digits) + 1;
  const auto id = std::stoul(grandchild.substr(start));
  ::TerminateProcess(native(made->process()), 1);
  EXPECT_TRUE(is_gone(id));
  made->finish();
}

}  // namespace
}  // namespace harn::run::windows

// SPDX-License-Identifier: Apache-2.0
// What the tests on Windows, or on wine, share: a directory of their own, the probe program beside the test, and runs of it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>

#include "run/windows/os/real_calls.h"
#include "run/windows/os/supervise.h"

namespace harn::run::windows {

// wine says what it is; there its silent stubs are what must be refused.
inline bool on_wine() { return ::GetProcAddress(::GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != nullptr; }

inline AbsPath path_from(const std::filesystem::path& path) { return AbsPath::of(narrow(path.wstring()).value()); }

class Ground : public ::testing::Test {
 protected:
  Ground() {
    wchar_t self[1024] = {};
    ::GetModuleFileNameW(nullptr, self, 1024);
    probe = path_from(std::filesystem::path(self).parent_path() / L"harn_windows_probe.exe");
    static int counter = 0;
    place = std::filesystem::temp_directory_path() / fmt::format("harn-{}-{}", ::GetCurrentProcessId(), ++counter);
    journals = place / "journal";
    place /= "work";
    std::filesystem::create_directories(place);
    calls = real_calls(path_from(journals));
  }
  ~Ground() override {
    std::error_code ignored;
    std::filesystem::remove_all(place.parent_path(), ignored);
  }

  Plan plan_for(std::vector<std::string> words) const {
    Plan plan;
    plan.route = Route::direct;
    plan.argv = std::move(words);
    plan.argv.insert(plan.argv.begin(), probe.text());
    plan.cwd = path_from(place);
    for (const auto* name : {L"SystemRoot", L"PATH", L"TEMP"}) {
      wchar_t value[4096] = {};
      ::GetEnvironmentVariableW(name, value, 4096);
      plan.env.variables[narrow(name).value()] = narrow(value).value();
    }
    return plan;
  }

  Result<Launched> launched(const Plan& plan, const Streams& streams) {
    return launch(calls, {.plan = plan,
                          .streams = streams.child_ends(),
                          .run_id = fmt::format("run-{:016x}", ::GetTickCount64()),
                          .is_file = is_file,
                          .batch_interpreter = batch_interpreter()});
  }

  static StreamRules captured(std::string input = {}) {
    return {.streams = {Stream::capture, Stream::capture, Stream::capture}, .input = std::move(input)};
  }

  Outcome run(const Plan& plan, StreamRules rules = captured(), HANDLE stop = nullptr) {
    rules.limit = plan.limits.max_output_bytes;
    auto streams = Streams::open(std::move(rules));
    EXPECT_TRUE(streams);
    auto made = launched(plan, *streams);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    if (!made) return {.exit_code = 9999};
    auto outcome = supervise(*made, std::move(*streams), {.limits = plan.limits, .stop = stop});
    EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().message);
    EXPECT_TRUE(made->finish().empty());
    return outcome ? std::move(*outcome) : Outcome{.exit_code = 9999};
  }

  AbsPath probe = {};
  std::filesystem::path place = {};
  std::filesystem::path journals = {};
  Calls calls = {};
};

// True once the process is gone; its id may not have been given to another one yet.
inline bool is_gone(DWORD id) {
  const UniqueHandle process(::OpenProcess(SYNCHRONIZE, FALSE, id));
  return !process || ::WaitForSingleObject(process.get(), 20'000) == WAIT_OBJECT_0;
}

}  // namespace harn::run::windows

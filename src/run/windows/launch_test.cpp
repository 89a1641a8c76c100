// SPDX-License-Identifier: Apache-2.0
// The order of calls, what is left after each of them failed, and that a system which only pretends is refused. Everything
// here runs on any system; what Windows itself does is in os/.
#include "run/windows/launch.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "run/windows/fake_windows.h"

namespace harn::run::windows {
namespace {

AclGrant grant(std::string_view path, bool writable) {
  return {.path = AbsPath::of(path), .modify = writable, .inherit = true, .stops_inheritance = false};
}
AclGrant cut(std::string_view path) { return {.path = AbsPath::of(path), .inherit = true, .stops_inheritance = true}; }

Plan confined_plan() {
  Plan plan;
  plan.route = Route::confined;
  plan.backend = Backend::windows;
  plan.argv = {"tool", "a b"};
  plan.cwd = AbsPath::of("C:/w");
  plan.env.variables = {{"PATH", "C:\\bin"}, {"Temp", "C:\\host"}};
  AppContainer container{.name = "harn.sandbox"};
  container.capability_sids = {"internetClient"};
  container.grants = {grant("C:/w", true), cut("C:/w/docs"), grant("C:/w/docs", false), cut("C:/w/secret")};
  container.environment = {{"TEMP", "@container:folder\\Temp"}};
  container.job_limits = {{"active_process", 8}, {"job_memory", 1 << 20}, {"cpu_rate_milli", 2000}};
  container.job_flags = {"die_on_unhandled_exception", "kill_on_job_close"};
  container.ui_limits = {"desktop", "read_clipboard"};
  plan.confinement = std::move(container);
  return plan;
}

FakeDisk fresh_disk() {
  FakeDisk disk;
  disk.add("C:/", "D:P(A;OICI;FA;;;BA)");
  disk.add("C:/w", "D:AI(A;OICI;FA;;;S-1-5-21-1)");
  for (const auto* inner : {"C:/w/docs", "C:/w/docs/deep", "C:/w/secret", "C:/w/src"}) disk.add(inner);
  return disk;
}

class Launch : public ::testing::Test {
 protected:
  Result<Launched> run(const Calls& calls, const Plan& plan = confined_plan()) {
    return launch(calls, {.plan = plan,
                          .streams = {1, 2, 3},
                          .run_id = "run-1",
                          .is_file = [](const AbsPath& path) { return path == AbsPath::of("C:/bin/tool.exe"); },
                          .batch_interpreter = "C:\\Windows\\System32\\cmd.exe"});
  }
  // The command did not run, and everything is as if it had never been asked for.
  void expect_nothing_left(const FakeDisk& before) {
    EXPECT_FALSE(windows.any_ran());
    EXPECT_FALSE(windows.any_alive());
    EXPECT_TRUE(windows.open.empty());
    EXPECT_EQ(disk, before);
  }

  FakeDisk disk = fresh_disk();
  FakeWindows windows{disk};
};

TEST_F(Launch, MakesTheBoundaryBeforeTheProcessAndVerifiesItBeforeTheFirstInstruction) {
  auto calls = windows.calls();
  auto launched = run(calls);
  ASSERT_TRUE(launched) << launched.error().message;
  const std::vector<std::string> order = {"save_journal", "create_container", "container_folder", "write_dacl C:/w/docs", "write_dacl C:/w",
                                          "create_job",   "limit_job",        "limit_job_ui",     "limit_job_cpu",        "spawn_suspended",
                                          "token_of",     "is_in_job",        "read_job",         "read_job_ui",          "read_job_cpu"};
  for (std::size_t i = 1; i < order.size(); ++i) EXPECT_LT(windows.position(order[i - 1]), windows.position(order[i])) << order[i];
  EXPECT_LT(windows.position("read_job_cpu"), windows.log.size());
  EXPECT_FALSE(windows.any_ran()) << "it waits until somebody supervises it";
  ASSERT_TRUE(launched->resume());
  EXPECT_TRUE(windows.any_ran());
}

TEST_F(Launch, HandsOverTheContainerItsCapabilitiesTheJobTheStreamsAndItsFolder) {
  auto calls = windows.calls();
  const auto launched = run(calls);
  ASSERT_TRUE(launched);
  const auto& request = windows.processes.begin()->second.request;
  EXPECT_EQ(request.container, FakeWindows::sid_of("harn.sandbox.run-1"));
  EXPECT_EQ(request.capabilities, std::vector<std::string>{"S-1-15-3-1"});
  EXPECT_EQ(request.streams, (std::array<Handle, 3>{1, 2, 3}));
  EXPECT_EQ(request.job, launched->job());
  EXPECT_EQ(request.program, "C:\\bin\\tool.exe");
  EXPECT_EQ(request.line, "\"tool\" \"a b\"");
  EXPECT_EQ(request.cwd, "C:\\w");
  EXPECT_NE(request.environment.find(u"TEMP=C:\\Users\\me\\AppData\\Local\\Packages\\it\\AC\\Temp"), std::u16string::npos);
  EXPECT_EQ(request.environment.find(u"C:\\host"), std::u16string::npos) << "Temp and TEMP are one variable";
}

TEST_F(Launch, TheJournalNamesEveryChangeBeforeTheFirstIsMade) {
  auto calls = windows.calls();
  std::optional<Journal> at_first_write;
  const auto write = calls.write_dacl;
  calls.write_dacl = [&](const AbsPath& path, const std::string& sddl) {
    auto journal = journal_from_json(disk.journals.begin()->second);
    if (!at_first_write && journal) at_first_write = *journal;
    return write(path, sddl);
  };
  ASSERT_TRUE(run(calls));
  ASSERT_TRUE(at_first_write);
  EXPECT_EQ(at_first_write->changes.size(), 3u);
}

TEST_F(Launch, AtNoMomentHasTheContainerMoreThanThePlanSays) {
  auto calls = windows.calls();
  const auto sid = FakeWindows::sid_of("harn.sandbox.run-1");
  std::size_t looked = 0;
  windows.after_write = [&] {
    ++looked;
    EXPECT_EQ(allowed_for(disk.effective(AbsPath::of("C:/w/secret")), sid), 0u);
    for (const auto* path : {"C:/w/docs", "C:/w/docs/deep"})
      EXPECT_EQ(allowed_for(disk.effective(AbsPath::of(path)), sid) & ~read_and_execute, 0u) << path;
  };
  {
    auto launched = run(calls);
    ASSERT_TRUE(launched);
    EXPECT_EQ(allowed_for(disk.effective(AbsPath::of("C:/w/src")), sid), modify);
    EXPECT_EQ(allowed_for(disk.effective(AbsPath::of("C:/w/docs/deep")), sid), read_and_execute);
    EXPECT_TRUE(launched->finish().empty());
  }
  EXPECT_EQ(looked, 6u) << "three changes and their undoing";
  EXPECT_EQ(disk, fresh_disk());
}

TEST_F(Launch, EveryCallThatFailsEndsTheRunAndLeavesNothing) {
  const auto before = disk;
  std::size_t calls_needed = 0;
  {
    FakeDisk other = fresh_disk();
    FakeWindows healthy(other);
    auto calls = healthy.calls();
    ASSERT_TRUE(run(calls));
    calls_needed = healthy.position("end_job");  // what comes after is its end
  }
  ASSERT_GT(calls_needed, 25u);
  std::size_t refused = 0;
  for (std::size_t n = 1; n <= calls_needed; ++n) {
    disk = before;
    FakeWindows failing(disk);
    failing.fail_at = n;
    auto calls = failing.calls();
    const auto launched = run(calls);
    const auto failed = failing.log.at(n - 1);
    // What earlier runs left behind is no reason not to run; it is said.
    const bool only_recovery = launched.has_value();
    if (only_recovery) EXPECT_LT(n, failing.position("derive_sid") + 1) << failed;
    else ++refused;
    if (!only_recovery) {
      EXPECT_FALSE(failing.any_ran()) << failed;
      EXPECT_FALSE(failing.any_alive()) << failed;
      EXPECT_TRUE(failing.open.empty()) << failed;
      EXPECT_EQ(disk, before) << failed;
    }
  }
  EXPECT_GE(refused, calls_needed - 2);
}

TEST_F(Launch, ADeathAtAnyMomentIsMadeGoodByTheNextStart) {
  const auto before = disk;
  for (std::size_t n = 1; n < 60; ++n) {
    disk = before;
    FakeWindows dying(disk);
    dying.die_at = n;
    auto calls = dying.calls();
    {
      auto launched = run(calls);
    }
    FakeWindows next(disk);  // nobody with the dead one's id is running
    auto after = next.calls();
    EXPECT_TRUE(recover(after).empty()) << n;
    EXPECT_EQ(disk, before) << "after " << n << " calls";
    const auto once_more = recover(after);
    EXPECT_TRUE(once_more.empty());
    EXPECT_EQ(disk, before);
  }
}

TEST_F(Launch, ADeathWhileUndoingIsMadeGoodToo) {
  const auto before = disk;
  for (std::size_t n = 1; n < 20; ++n) {
    disk = before;
    FakeWindows dying(disk);
    auto calls = dying.calls();
    {
      auto launched = run(calls);
      ASSERT_TRUE(launched);
      dying.die_at = dying.counted + n;
    }
    FakeWindows next(disk);
    auto after = next.calls();
    EXPECT_TRUE(recover(after).empty()) << n;
    EXPECT_EQ(disk, before) << n;
  }
}

TEST_F(Launch, TheLiveRunsOfOthersAreLeftAlone) {
  auto calls = windows.calls();
  auto launched = run(calls);
  ASSERT_TRUE(launched);
  const auto during = disk;
  windows.running = {4711};
  EXPECT_TRUE(recover(calls).empty());
  EXPECT_EQ(disk, during);
}

// ---- a system that says yes and does nothing ------------------------------------------------------------

using Lie = std::function<void(Calls&)>;

class PretendingSystem : public Launch, public ::testing::WithParamInterface<std::pair<const char*, Lie>> {};

TEST_P(PretendingSystem, IsRefusedAndLeavesNothing) {
  const auto before = disk;
  auto calls = windows.calls();
  GetParam().second(calls);
  const auto launched = run(calls);
  ASSERT_FALSE(launched) << GetParam().first;
  EXPECT_EQ(launched.error().code, ErrorCode::refused) << launched.error().message;
  EXPECT_FALSE(launched.error().hint.empty());
  expect_nothing_left(before);
}

std::pair<const char*, Lie> lie(const char* name, Lie how) { return {name, std::move(how)}; }

INSTANTIATE_TEST_SUITE_P(
    Lies, PretendingSystem,
    ::testing::Values(
        lie("the process is in no container",
            [](Calls& calls) {
              const auto spawn = calls.spawn_suspended;
              calls.spawn_suspended = [spawn](SpawnRequest request) {
                request.container.reset();
                return spawn(request);
              };
            }),
        lie("the process is in another container",
            [](Calls& calls) {
              calls.token_of = [](Handle) -> Result<TokenFacts> {
                return TokenFacts{.is_container = true, .sid = "S-1-15-2-9-9-9-9-9-9-9", .capabilities = {"S-1-15-3-1"}};
              };
            }),
        lie("the process can do more on the network",
            [](Calls& calls) {
              const auto token = calls.token_of;
              calls.token_of = [token](Handle process) {
                auto facts = token(process);
                if (facts) facts->capabilities.emplace_back("S-1-15-3-3");
                return facts;
              };
            }),
        lie("the capability was dropped",
            [](Calls& calls) {
              const auto token = calls.token_of;
              calls.token_of = [token](Handle process) {
                auto facts = token(process);
                if (facts) facts->capabilities.clear();
                return facts;
              };
            }),
        lie("the process is not in the job",
            [](Calls& calls) {
              const auto spawn = calls.spawn_suspended;
              calls.spawn_suspended = [spawn](SpawnRequest request) {
                request.job = 0;
                return spawn(request);
              };
            }),
        lie("the job has no limits", [](Calls& calls) { calls.limit_job = [](Handle, const JobLimits&) -> Status { return {}; }; }),
        lie("the job lets processes leave",
            [](Calls& calls) {
              const auto read = calls.read_job;
              calls.read_job = [read](Handle job) {
                auto limits = read(job);
                if (limits) limits->flags |= 0x800;
                return limits;
              };
            }),
        lie("the job has other numbers",
            [](Calls& calls) {
              const auto read = calls.read_job;
              calls.read_job = [read](Handle job) {
                auto limits = read(job);
                if (limits) limits->job_memory *= 2;
                return limits;
              };
            }),
        lie("the user interface is open", [](Calls& calls) { calls.limit_job_ui = [](Handle, std::uint32_t) -> Status { return {}; }; }),
        lie("the processor rate is not set",
            [](Calls& calls) { calls.limit_job_cpu = [](Handle, std::uint32_t) -> Status { return {}; }; }),
        lie("lists are not written",
            [](Calls& calls) { calls.write_dacl = [](const AbsPath&, const std::string&) -> Status { return {}; }; }),
        lie("entries of containers are dropped",
            [](Calls& calls) {
              const auto write = calls.write_dacl;
              calls.write_dacl = [write](const AbsPath& path, const std::string& sddl) -> Status {
                HARN_TRY(dacl, parse_dacl(sddl));
                std::erase_if(dacl.entries, [](const Ace& entry) { return is_package_sid(entry.sid); });
                return write(path, dacl.text());
              };
            }),
        lie("inheritance goes on",
            [](Calls& calls) {
              const auto write = calls.write_dacl;
              calls.write_dacl = [write](const AbsPath& path, const std::string& sddl) -> Status {
                HARN_TRY(dacl, parse_dacl(sddl));
                if (dacl.is_protected) return {};
                return write(path, dacl.text());
              };
            }),
        lie("the container has another SID",
            [](Calls& calls) {
              const auto create = calls.create_container;
              calls.create_container = [create](const std::string& name) -> Result<std::string> {
                HARN_OK(create(name));
                return "S-1-15-2-9-9-9-9-9-9-9";
              };
            }),
        lie("the SID is that of every container",
            [](Calls& calls) { calls.derive_sid = [](const std::string&) -> Result<std::string> { return std::string(all_packages); }; })),
    [](const auto& which) {
      std::string name = which.param.first;
      std::ranges::replace(name, ' ', '_');
      return name;
    });

// ---- what the disk already says -------------------------------------------------------------------------

TEST_F(Launch, APathThatAdmitsEveryContainerIsRefused) {
  disk.own[AbsPath::of("C:/w/secret")] = *parse_dacl("D:AI(A;OICI;0x1200a9;;;AC)");
  const auto before = disk;
  auto calls = windows.calls();
  const auto launched = run(calls);
  ASSERT_FALSE(launched);
  EXPECT_NE(launched.error().message.find("C:/w/secret"), std::string::npos) << launched.error().message;
  EXPECT_NE(launched.error().hint.find("ALL APPLICATION PACKAGES"), std::string::npos);
  expect_nothing_left(before);
}

TEST_F(Launch, AVolumeWithoutListsIsRefused) {
  disk.own[AbsPath::of("C:/w")].null = true;
  const auto before = disk;
  auto calls = windows.calls();
  const auto launched = run(calls);
  ASSERT_FALSE(launched);
  EXPECT_EQ(launched.error().code, ErrorCode::refused);
  expect_nothing_left(before);
}

TEST_F(Launch, ALinkThatAppearedSinceThePlanIsRefused) {
  const auto before = disk;
  auto calls = windows.calls();
  calls.pin = [](const AbsPath& path) -> Result<Pinned> {
    const bool moved = path == AbsPath::of("C:/w/docs");
    return Pinned{.really = moved ? AbsPath::of("C:/Users/me/.ssh") : path, .followed = moved};
  };
  const auto launched = run(calls);
  ASSERT_FALSE(launched);
  EXPECT_NE(launched.error().message.find("C:/Users/me/.ssh"), std::string::npos);
  expect_nothing_left(before);
}

TEST_F(Launch, ThePolicyMayNotOpenTheJournal) {
  auto plan = confined_plan();
  std::get<AppContainer>(plan.confinement).grants = {grant("C:/Users/me", true)};
  disk.add("C:/Users/me");
  const auto before = disk;
  auto calls = windows.calls();
  const auto launched = run(calls, plan);
  ASSERT_FALSE(launched);
  EXPECT_NE(launched.error().message.find("journal"), std::string::npos);
  expect_nothing_left(before);
}

TEST_F(Launch, UnknownWordsInAPlanAreRefused) {
  const auto before = disk;
  const std::vector<std::function<void(AppContainer&)>> edits = {
      [](AppContainer& container) { container.job_limits["bandwidth"] = 1; },
      [](AppContainer& container) { container.job_flags.emplace_back("breakaway_ok"); },
      [](AppContainer& container) { container.ui_limits.emplace_back("mouse"); },
      [](AppContainer& container) { container.capability_sids.emplace_back("picturesLibrary"); },
  };
  for (const auto& edit : edits) {
    auto plan = confined_plan();
    edit(std::get<AppContainer>(plan.confinement));
    auto calls = windows.calls();
    EXPECT_FALSE(run(calls, plan));
    expect_nothing_left(before);
  }
}

TEST_F(Launch, WithoutConfinementThereIsAJobAndNothingElse) {
  auto plan = confined_plan();
  plan.confinement = NoConfinement{};
  const auto before = disk;
  auto calls = windows.calls();
  const auto launched = run(calls, plan);
  ASSERT_TRUE(launched);
  EXPECT_FALSE(launched->confined());
  EXPECT_FALSE(windows.processes.begin()->second.request.container);
  EXPECT_EQ(windows.jobs.at(launched->job()).limits.flags, job::kill_on_job_close);
  EXPECT_EQ(disk, before);
}

}  // namespace
}  // namespace harn::run::windows

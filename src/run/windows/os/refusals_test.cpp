// SPDX-License-Identifier: Apache-2.0
// wine says yes to much that it does not do. Each of its silent stubs is met here by the real calls, with everything before it
// stubbed out, and each must end in a refusal before the command's first instruction: the command would leave a mark.
#include <atomic>
#include <thread>

#include <fmt/format.h>

#include "run/windows/os/ground.h"
#include "run/windows/sddl.h"

namespace harn::run::windows {
namespace {

constexpr const char* container_sid = "S-1-15-2-11-22-33-44-55-66-77";

class Refusals : public Ground {
 protected:
  void SetUp() override {
    if (!on_wine()) GTEST_SKIP() << "these are the gaps of wine; this system says it is Windows itself";
    plan = plan_for({"mark", narrow((place / "mark").wstring()).value()});
    plan.route = Route::confined;
    plan.backend = Backend::windows;
    plan.confinement = AppContainer{.name = "harn.test", .job_flags = {"kill_on_job_close"}};
  }

  AppContainer& container() { return std::get<AppContainer>(plan.confinement); }

  // The four functions wine 8 lacks, as if they were there.
  void pretend_containers() {
    calls.derive_sid = calls.create_container = [](const std::string&) -> Result<std::string> { return std::string(container_sid); };
    calls.container_folder = [this](const std::string&) -> Result<std::string> { return narrow(place.wstring()); };
    calls.delete_container = [](const std::string&) -> Status { return {}; };
  }
  // What follows when the attribute's failure is ignored: wine starts the process, unconfined.
  void pretend_attribute() {
    const auto spawn = calls.spawn_suspended;
    calls.spawn_suspended = [spawn](SpawnRequest request) {
      request.container.reset();
      return spawn(request);
    };
  }
  void pretend_token() {
    calls.token_of = [](Handle) -> Result<TokenFacts> { return TokenFacts{.is_container = true, .sid = container_sid}; };
  }
  void pretend_job() {
    calls.limit_job = [this](Handle, const JobLimits& limits) -> Status {
      told = limits;
      return {};
    };
    calls.read_job = [this](Handle) -> Result<JobLimits> { return told; };
    calls.read_job_ui = [](Handle) -> Result<std::uint32_t> { return 0u; };
  }

  // Refused, the mark is not there, and neither is a process or a journal.
  Error refused() {
    const auto spawn = calls.spawn_suspended;
    std::vector<DWORD> started;
    calls.spawn_suspended = [&, spawn](const SpawnRequest& request) {
      auto child = spawn(request);
      if (child) started.push_back(static_cast<DWORD>(child->id));
      return child;
    };
    auto streams = Streams::open(captured());
    EXPECT_TRUE(streams);
    const auto made = launched(plan, *streams);
    calls.spawn_suspended = spawn;
    EXPECT_FALSE(made) << "it was started";
    EXPECT_FALSE(std::filesystem::exists(place / "mark"));
    for (const auto id : started) EXPECT_TRUE(is_gone(id));
    EXPECT_TRUE(calls.list_journals().value().empty());
    return made ? Error{} : made.error();
  }

  Plan plan = {};
  JobLimits told = {};
};

TEST_F(Refusals, TheProbeLeavesItsMarkWhenNothingRefusesIt) {
  plan.confinement = NoConfinement{};
  EXPECT_EQ(run(plan).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(place / "mark"));
}

TEST_F(Refusals, MissingContainerFunctionsAreNamed) {
  const auto error = refused();
  EXPECT_EQ(error.code, ErrorCode::not_available);
  EXPECT_NE(error.message.find("DeriveAppContainerSidFromAppContainerName"), std::string::npos) << error.message;
  // Each of them, whichever the system lacks.
  EXPECT_FALSE(calls.create_container("x"));
  EXPECT_FALSE(calls.container_folder(container_sid));
  EXPECT_FALSE(calls.delete_container("x"));
}

TEST_F(Refusals, AFailedAttributeStartsNothing) {
  pretend_containers();
  const auto error = refused();
  EXPECT_EQ(error.code, ErrorCode::refused);
  EXPECT_EQ(error.os_error, 50) << error.message;
}

TEST_F(Refusals, AProcessOutsideTheContainerIsEndedBeforeItRuns) {
  pretend_containers();
  pretend_attribute();
  const auto error = refused();
  EXPECT_EQ(error.code, ErrorCode::refused);
  EXPECT_NE(error.message.find("not in an AppContainer"), std::string::npos) << error.message;
}

TEST_F(Refusals, JobLimitsThatAreTakenAndForgottenAreFound) {
  pretend_containers();
  pretend_attribute();
  pretend_token();
  for (const auto& [name, value] : std::map<std::string, std::uint64_t>{
           {"active_process", 4}, {"process_memory", 64u << 20}, {"job_memory", 64u << 20}, {"job_user_time", 10'000'000}}) {
    container().job_limits = {{name, value}};
    const auto error = refused();
    EXPECT_EQ(error.code, ErrorCode::refused);
    EXPECT_NE(error.message.find("does not have them"), std::string::npos) << name << ": " << error.message;
  }
}

TEST_F(Refusals, UserInterfaceLimitsThatCannotBeReadAreRefused) {
  pretend_containers();
  pretend_attribute();
  pretend_token();
  const auto read_ui = calls.read_job_ui;
  pretend_job();
  calls.read_job_ui = read_ui;
  container().ui_limits = {"read_clipboard"};
  const auto error = refused();
  EXPECT_NE(error.message.find("user interface"), std::string::npos) << error.message;
}

TEST_F(Refusals, AProcessorRateThatIsRefusedByTheSystemIsRefusedByUs) {
  pretend_containers();
  pretend_attribute();
  pretend_token();
  pretend_job();
  container().job_limits = {{"cpu_rate_milli", 500}};
  const auto error = refused();
  EXPECT_NE(error.message.find("processor rate"), std::string::npos) << error.message;
}

TEST_F(Refusals, EntriesThatAreTakenAndDroppedAreFound) {
  pretend_containers();
  pretend_attribute();
  pretend_token();
  pretend_job();
  container().grants = {{.path = path_from(place), .modify = true, .inherit = true}};
  const auto error = refused();
  EXPECT_EQ(error.code, ErrorCode::refused);
  EXPECT_NE(error.message.find("is not there"), std::string::npos) << error.message;
}

// The last step of the ladder: with everything pretended the command does run, so what refused above was each step's own check.
TEST_F(Refusals, OnlyASystemThatLiesAboutEverythingIsBelieved) {
  pretend_containers();
  pretend_attribute();
  pretend_token();
  pretend_job();
  EXPECT_EQ(run(plan).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(place / "mark"));
}

TEST_F(Refusals, ListsReadAsTextAndKeepTheirMeaning) {
  const auto text = calls.read_dacl(path_from(place));
  ASSERT_TRUE(text) << text.error().message;
  const auto dacl = parse_dacl(*text);
  ASSERT_TRUE(dacl) << *text;
  EXPECT_EQ(dacl->text(), *text);
  EXPECT_EQ(calls.read_dacl(path_from(place / "absent")).error().code, ErrorCode::io);
}

TEST_F(Refusals, APinnedNameSaysWhereItLeads) {
  const auto pin = calls.pin(path_from(place));
  ASSERT_TRUE(pin) << pin.error().message;
  EXPECT_FALSE(pin->followed);
  EXPECT_EQ(pin->really, path_from(place));
  EXPECT_FALSE(calls.pin(path_from(place / "absent")));
}

TEST_F(Refusals, AJournalOfADeadProcessIsFoundAndOneOfALivingIsNot) {
  EXPECT_TRUE(calls.is_running(calls.self.first, calls.self.second));
  EXPECT_FALSE(calls.is_running(calls.self.first, calls.self.second + 1)) << "the id came again";
  EXPECT_FALSE(calls.is_running(999'996, 1));
  ASSERT_TRUE(calls.save_journal("x", "one"));
  ASSERT_TRUE(calls.save_journal("x", "two"));
  EXPECT_EQ(calls.list_journals().value(), (std::vector<std::pair<std::string, std::string>>{{"x", "two"}}));
  ASSERT_TRUE(calls.remove_journal("x"));
  ASSERT_TRUE(calls.remove_journal("x"));
  EXPECT_TRUE(calls.list_journals().value().empty());
}

TEST_F(Refusals, OneAtATimeChangesLists) {
  auto first = calls.lock_journals();
  ASSERT_TRUE(first);
  std::atomic<bool> second_has_it = false;
  std::atomic<bool> first_let_go = false;
  std::thread second([&] {
    const auto lock = calls.lock_journals();
    second_has_it = lock.has_value() && first_let_go;
  });
  ::Sleep(100);
  first_let_go = true;
  first->reset();
  second.join();
  EXPECT_TRUE(second_has_it);
}

// Real lists and real journals; only the container's own functions are stood in for.
TEST_F(Refusals, WhatADeadRunChangedIsTakenBack) {
  pretend_containers();
  const auto guarded = place / "guarded";
  std::filesystem::create_directory(guarded);
  const auto changes = path_changes({{.path = path_from(place), .modify = true, .inherit = true},
                                     {.path = path_from(guarded), .inherit = true, .stops_inheritance = true}});
  const auto before = std::pair(calls.read_dacl(path_from(place)).value(), calls.read_dacl(path_from(guarded)).value());
  Journal dead{.container = "harn.test.dead", .sid = container_sid, .owner = 999'996, .started = 1};
  ASSERT_TRUE(apply_changes(calls, changes, dead));
  EXPECT_EQ(calls.list_journals().value().size(), 1u);
  EXPECT_TRUE(recover(calls).empty());
  EXPECT_TRUE(calls.list_journals().value().empty());
  EXPECT_EQ(std::pair(calls.read_dacl(path_from(place)).value(), calls.read_dacl(path_from(guarded)).value()), before);
}

}  // namespace
}  // namespace harn::run::windows

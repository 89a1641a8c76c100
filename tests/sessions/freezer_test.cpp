// SPDX-License-Identifier: Apache-2.0
// Sleep by the kernel's freezer: everybody is in it, nobody can tell, whoever is killed meanwhile is gone, and nothing is left.
#include <errno.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "harn/probe.h"
#include "harn/session.h"
#include "run/kept.h"
#include "run/session_freezer.h"
#include "sandbox/run_joined.h"
#include "session/life.h"
#include "sys/cgroup_places.h"

namespace harn {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using run::keeper::Freezer;
using run::keeper::Kind;

// True as soon as it holds; how long that takes is the machine's business.
template <class Holds>
bool comes_true(Holds holds) {
  for (int i = 0; i < 5000; ++i, std::this_thread::sleep_for(2ms))
    if (holds()) return true;
  return false;
}

class SleepByFreezer : public testing::TestWithParam<Freezer> {
 protected:
  void SetUp() override {
    const bool first = GetParam() == Freezer::v1;
    const auto own = sys::find_own_group(first ? "freezer" : "");
    if (!own) GTEST_SKIP() << "no group of cgroup version " << (first ? 1 : 2) << " can be made in the one this process is in";
    char name[] = "/var/tmp/harn-freezer-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    ground_ = AbsPath::of(name);
    for (const auto* part : {"work", "keeper"}) ASSERT_EQ(::mkdir(ground_.join(part).text().c_str(), 0700), 0);
    group_ = own->join("harn-test-sleep-" + std::to_string(::getpid()));
    auto facts = probe_host({.environment = {{"PATH", "/usr/bin:/bin"}, {"HOME", "/nonexistent"}}, .cwd = work()});
    if (!facts.linux.user_namespaces) GTEST_SKIP() << "no user namespaces";
    Policy policy;
    policy.workspace_roots = {work()};
    look_at_paths(facts, policy);
    auto plan = make_plan(policy, {.argv = {"true"}, .cwd = work(), .environment = {{"PATH", "/usr/bin:/bin"}}}, facts);
    ASSERT_TRUE(plan);
    plan_ = *plan;
    auto freezer = run::make_session_freezer({.kind = GetParam(), .directory = group_});
    ASSERT_TRUE(freezer) << freezer.error().message;
    auto kept = run::keep_view(plan_, {.directory = keeper(), .freezer = &*freezer});
    ASSERT_TRUE(kept) << kept.error().message;
    pid_ = kept->pid;
  }
  void TearDown() override {
    if (pid_ > 0) {
      EXPECT_TRUE(run::end_keeper(keeper(), pid_));
    }
    if (group_ != AbsPath()) {
      EXPECT_TRUE(run::remove_session_freezer(group_));
      EXPECT_FALSE(fs::exists(group_.text()));
    }
    if (ground_ != AbsPath()) fs::remove_all(ground_.text());
  }

  AbsPath work() const { return ground_.join("work"); }
  AbsPath keeper() const { return ground_.join("keeper"); }

  std::string run(const std::string& script, bool keeps = false) const {
    auto plan = plan_;
    plan.argv = {"/bin/sh", "-c", script};
    const auto outcome = sandbox::run_joined(plan, {.streams = {Stream::empty, Stream::capture, Stream::capture}, .receipt = false},
                                             {.directory = keeper(), .keeps_processes = keeps});
    return outcome ? *outcome->captured_stdout : outcome.error().message;
  }

  // A process that stays and counts in a file, and a child of it; the number of the first as it is outside.
  void leave_counters() {
    run("(while :; do echo x >> a; sleep 0.01; done) >/dev/null 2>&1 & (while :; do echo x >> b; sleep 0.01; done) >/dev/null 2>&1 &",
        true);
    ASSERT_TRUE(comes_true([&] { return counted("a") > 2 && counted("b") > 2; }));
  }
  std::uintmax_t counted(const std::string& name) const {
    std::error_code error;
    const auto size = fs::file_size(work().join(name).text(), error);
    return error ? 0 : size;
  }
  // A process that cannot be frozen at that moment makes it a stop by signal, which is told; then once more.
  bool is_put_into_freezer() const {
    return comes_true([&] {
      const auto state = run::ask_keeper(keeper(), Kind::suspend);
      if (!state || state->frozen != 0) return state.has_value();
      (void)run::ask_keeper(keeper(), Kind::resume);
      return false;
    });
  }
  std::vector<int> members() const {
    std::ifstream in(group_.join("cgroup.procs").text());
    std::vector<int> out;
    for (int pid = 0; in >> pid;) out.push_back(pid);
    return out;
  }
  // Several times longer than the counters wait.
  bool stands_still() const {
    const auto before = std::pair(counted("a"), counted("b"));
    std::this_thread::sleep_for(200ms);
    return before == std::pair(counted("a"), counted("b"));
  }

  AbsPath ground_ = {};
  AbsPath group_ = {};
  Plan plan_ = {};
  pid_t pid_ = -1;
};

TEST_P(SleepByFreezer, EverybodyIsInItAndNobodyIsStopped) {
  leave_counters();
  ASSERT_TRUE(is_put_into_freezer());
  EXPECT_EQ(run::ask_keeper(keeper(), Kind::state)->suspended, 1u);
  EXPECT_TRUE(stands_still());
  const auto inside = members();
  EXPECT_GE(inside.size(), 2u);
  for (const int pid : inside) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(in, line);)
      if (line.starts_with("State:")) {
        EXPECT_EQ(line.find("stopped"), std::string::npos) << line;
      }
  }
  const auto before = counted("a");
  const auto awake = run::ask_keeper(keeper(), Kind::resume);
  ASSERT_TRUE(awake);
  EXPECT_EQ(awake->frozen, 0u);
  EXPECT_TRUE(comes_true([&] { return counted("a") > before; }));
}

TEST_P(SleepByFreezer, TheNextCommandWakesEverybody) {
  leave_counters();
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(run::ask_keeper(keeper(), Kind::suspend));
    EXPECT_TRUE(stands_still());
    const auto before = counted("b");
    EXPECT_EQ(run("echo awake"), "awake\n");
    EXPECT_TRUE(comes_true([&] { return counted("b") > before; }));
  }
}

TEST_P(SleepByFreezer, WhoeverForksIsCaught) {
  run("(while :; do /bin/true & done) >/dev/null 2>&1 & (while :; do echo x >> a; (echo x >> b); done) >/dev/null 2>&1 &", true);
  ASSERT_TRUE(comes_true([&] { return counted("a") > 2; }));
  for (int round = 0; round < 5; ++round) {
    const auto state = run::ask_keeper(keeper(), Kind::suspend);
    ASSERT_TRUE(state);
    EXPECT_EQ(state->suspended, 1u);
    EXPECT_TRUE(stands_still()) << round << (state->frozen != 0 ? " frozen" : " stopped");
    ASSERT_TRUE(run::ask_keeper(keeper(), Kind::resume));
  }
}

TEST_P(SleepByFreezer, AFrozenSessionEnds) {
  leave_counters();
  ASSERT_TRUE(is_put_into_freezer());
  const auto inside = members();
  EXPECT_TRUE(run::end_keeper(keeper(), pid_));
  pid_ = -1;
  for (const int pid : inside) EXPECT_TRUE(comes_true([&] { return ::kill(pid, 0) != 0 && errno == ESRCH; })) << pid;
}

TEST_P(SleepByFreezer, AKeeperThatIsKilledMeanwhileLeavesNobodyWhenTheGroupGoes) {
  leave_counters();
  ASSERT_TRUE(is_put_into_freezer());
  const auto inside = members();
  ASSERT_EQ(::kill(pid_, SIGKILL), 0);
  pid_ = -1;
  EXPECT_TRUE(run::remove_session_freezer(group_));
  for (const int pid : inside) EXPECT_TRUE(comes_true([&] { return ::kill(pid, 0) != 0 && errno == ESRCH; })) << pid;
}

INSTANTIATE_TEST_SUITE_P(Versions, SleepByFreezer, testing::Values(Freezer::v2, Freezer::v1),
                         [](const auto& version) { return version.param == Freezer::v1 ? "V1" : "V2"; });

// What is told is what is done: the freezer where this process can make a group, the signal elsewhere.
TEST(SleepOfASession, SaysByWhat) {
  char name[] = "/var/tmp/harn-sleep-XXXXXX";
  ASSERT_NE(::mkdtemp(name), nullptr);
  const std::map<std::string, std::string> environment = {{"HOME", name}, {"PATH", "/usr/bin:/bin"}};
  auto local = LocalSandbox::open({.context = {.environment = environment, .cwd = AbsPath::of("/")}});
  ASSERT_TRUE(local) << describe(local.error());
  if (!local->capabilities().suspend_on_idle) GTEST_SKIP() << "nothing is kept here";
  const auto session = local->provision({});
  ASSERT_TRUE(session) << describe(session.error());
  const bool second = sys::find_own_group("").has_value();
  const bool first = sys::find_own_group("freezer").has_value();
  const auto expected = second ? session::frozen_by_v2 : first ? session::frozen_by_v1 : session::stopped_by;
  EXPECT_EQ(session->metadata.at("sleep"), expected);
  const auto asleep = local->suspend(session->id);
  ASSERT_TRUE(asleep) << describe(asleep.error());
  EXPECT_EQ(asleep->state, SandboxState::suspended);
  EXPECT_EQ(asleep->metadata.at("sleep"), expected);
  const auto record = session::load(session::places_for(environment), session->id.value);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->freezer.empty(), !first && !second);
  ASSERT_TRUE(local->terminate(session->id));
  if (!record->freezer.empty()) {
    EXPECT_FALSE(fs::exists(record->freezer));
  }
  fs::remove_all(name);
}

}  // namespace
}  // namespace harn

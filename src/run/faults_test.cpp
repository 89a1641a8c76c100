// SPDX-License-Identifier: Apache-2.0
// Every step fails in turn: the command never starts, and the error names the step.
#include <errno.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <filesystem>

#include "harn/probe.h"
#include "run/launch.h"

namespace harn::run {
namespace {

namespace fs = std::filesystem;

class Faults : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/var/tmp/harn-faults-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    workspace_ = AbsPath::of(name);
  }
  void TearDown() override { fs::remove_all(workspace_.text()); }

  // A plan whose command leaves a mark when it runs.
  Plan plan(bool view, bool supervisor = true) const {
    Policy policy;
    policy.workspace_roots = {workspace_};
    auto facts = probe_host({.environment = {{"PATH", "/usr/bin:/bin"}, {"HOME", "/nonexistent"}}, .cwd = workspace_});
    facts.project_root = workspace_;
    if (!view) facts.linux.user_namespaces = facts.linux.pid_namespaces = facts.linux.network_namespaces = false;
    if (!supervisor) facts.linux.seccomp_notify = false;
    look_at_paths(facts, policy);
    auto plan = make_plan(policy, {.argv = {"/bin/sh", "-c", "echo ran > mark"}, .environment = {{"PATH", "/usr/bin:/bin"}}}, facts);
    EXPECT_TRUE(plan);
    return *plan;
  }

  bool marked() const { return fs::exists(workspace_.join("mark").text()); }

  static std::size_t steps(const Plan& plan, bool inner) {
    auto prepared = prepare(plan, {});
    EXPECT_TRUE(prepared);
    return inner ? prepared->inner_steps().size() : prepared->outer_steps().size();
  }

  void fail_each(const Plan& plan, bool inner, int error) const {
    const auto count = steps(plan, inner);
    for (std::size_t step = 0; step < count; ++step) {
      auto prepared = prepare(plan, {.fault = {.step = static_cast<std::int32_t>(step), .error = error, .inner = inner}});
      ASSERT_TRUE(prepared);
      const auto label = inner ? prepared->inner_steps()[step] : prepared->outer_steps()[step];
      // The command runs, confined, when init takes over; it ends with its namespace.
      const bool after_command = !inner && step + 1 == count;
      auto process = spawn(std::move(*prepared));
      ASSERT_FALSE(process) << label;
      EXPECT_EQ(process.error().stage, Stage::spawn);
      EXPECT_EQ(process.error().os_error, error);
      const bool last = inner && step + 1 == count;
      EXPECT_TRUE(last || process.error().message.find(label) != std::string::npos) << process.error().message;
      EXPECT_TRUE(after_command || !marked()) << label;
      fs::remove(workspace_.join("mark").text());
      EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a process is left after " << label;
    }
  }

  AbsPath workspace_ = {};
};

TEST_F(Faults, AStepThatFailsWhileTheViewIsBuiltStopsTheRun) {
  for (const int error : {EPERM, ENOMEM, EMFILE, ENOSPC}) fail_each(plan(/*view=*/true), /*inner=*/false, error);
}

TEST_F(Faults, AStepThatFailsInTheCommandsProcessStopsTheRun) {
  for (const int error : {EPERM, ENOMEM, EMFILE, ENOSPC}) fail_each(plan(/*view=*/true), /*inner=*/true, error);
}

TEST_F(Faults, AStepThatFailsWithoutAViewStopsTheRun) {
  for (const int error : {EPERM, ENOMEM, EMFILE, ENOSPC}) {
    fail_each(plan(/*view=*/false), /*inner=*/true, error);
    fail_each(plan(/*view=*/false, /*supervisor=*/false), /*inner=*/true, error);
  }
}

TEST_F(Faults, AStepThatFailsForTheSupervisorStopsTheRun) {
  ASSERT_GT(steps(plan(/*view=*/false), /*inner=*/false), 5u) << "there is no supervisor here";
  for (const int error : {EPERM, ENOMEM, EMFILE, ENOSPC}) fail_each(plan(/*view=*/false), /*inner=*/false, error);
}

TEST_F(Faults, WithoutAFaultTheCommandRuns) {
  for (const auto& planned : {plan(true), plan(false), plan(false, /*supervisor=*/false)}) {
    fs::remove(workspace_.join("mark").text());
    auto prepared = prepare(planned, {});
    ASSERT_TRUE(prepared);
    auto process = spawn(std::move(*prepared));
    ASSERT_TRUE(process) << process.error().message;
    int status = 0;
    ::waitpid(process->pid(), &status, 0);
    process->forget();
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(marked());
  }
}

// A canary that is reached means the boundary does not hold: nothing may run then.
TEST_F(Faults, ACanaryThatIsReachedStopsTheRun) {
  const auto planned = plan(/*view=*/true);
  auto counted = prepare(planned, {});
  ASSERT_TRUE(counted);
  std::size_t canaries = 0;
  for (std::size_t step = 0; step < counted->inner_steps().size(); ++step) {
    if (!counted->inner_steps()[step].starts_with("find ")) continue;
    ++canaries;
    auto prepared = prepare(planned, {.fault = {.step = static_cast<std::int32_t>(step), .error = 0, .inner = true}});
    ASSERT_TRUE(prepared);
    const auto process = spawn(std::move(*prepared));
    ASSERT_FALSE(process);
    EXPECT_EQ(process.error().code, ErrorCode::refused);
    EXPECT_TRUE(process.error().message.starts_with("the boundary does not hold")) << process.error().message;
    EXPECT_FALSE(marked());
  }
  EXPECT_GE(canaries, 2u);
}

}  // namespace
}  // namespace harn::run

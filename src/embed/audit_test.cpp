// SPDX-License-Identifier: Apache-2.0
// What another program's sink is told, and what happens when it cannot take it.
#include <filesystem>
#include <mutex>

#include <gtest/gtest.h>

#include "harn/embed.h"
#include "harn/executor.h"
#include "support/temp_dir.h"

namespace harn {
namespace {

class Listener final : public AuditSink {
 public:
  Status append(std::span<const AuditEvent> events) override {
    const std::scoped_lock guard(mutex_);
    if (broken) return fail(Error{.code = ErrorCode::io, .stage = Stage::audit, .message = "no room"});
    for (const auto& event : events) {
      (heard += name_of(event.type)) += ' ';
      data += event.data + "\n";
    }
    return {};
  }

  std::string heard;
  std::string data;
  bool broken = false;

 private:
  std::mutex mutex_;
};

class Told : public testing::Test {
 protected:
  Context context() {
    return {.environment = {{"HOME", dir_.path("home").text()},
                            {"PATH", "/usr/bin:/bin"},
                            {"XDG_STATE_HOME", dir_.path("state").text()},
                            {"DEPLOY_TOKEN", "open-sesame"}},
            .cwd = work_,
            .audit = &listener_};
  }

  test::TempDir dir_;
  AbsPath work_ = dir_.directory("work");
  Listener listener_;
};

TEST_F(Told, OfEveryDecisionAndEveryRun) {
  const auto sandbox = Sandbox::open({}, context());
  ASSERT_TRUE(sandbox) << describe(sandbox.error());
  const auto outcome = sandbox->run({.argv = {"/bin/sh", "-c", "exit 3", "open-sesame"}});
  ASSERT_TRUE(outcome) << describe(outcome.error());
  EXPECT_EQ(listener_.heard, "policy_loaded plan_made exec_started exec_finished ");
  EXPECT_EQ(listener_.data.find("sesame"), std::string::npos) << listener_.data;
  EXPECT_NE(listener_.data.find("\"env_removed\":[\"DEPLOY_TOKEN\"]"), std::string::npos);
  EXPECT_NE(listener_.data.find("\"exit_code\":3"), std::string::npos);
  EXPECT_NE(listener_.data.find("\"plan_digest\":\"plan-"), std::string::npos);
  EXPECT_FALSE(sandbox->run({.argv = {"/bin/true"}, .cwd = AbsPath::of("/")}));
  EXPECT_TRUE(listener_.heard.ends_with("exec_finished sandbox_refused ")) << listener_.heard;
}

TEST_F(Told, OfCommandsTheExecutorBlocks) {
  const auto executor = harness::create_executor({.blocked_commands = {"curl"}}, context());
  ASSERT_TRUE(executor) << describe(executor.error());
  EXPECT_FALSE(executor->execute("curl https://u:p@example.org").success());
  EXPECT_TRUE(listener_.heard.ends_with("sandbox_refused ")) << listener_.heard;
  EXPECT_EQ(listener_.data.find("u:p"), std::string::npos);
}

TEST_F(Told, ASinkThatCannotTakeItStopsOnlyWhatIsHardened) {
  const auto loose = Sandbox::open({}, context());
  const auto hardened = Sandbox::open({.sandbox_profile = Profile::os_hardened}, context());
  ASSERT_TRUE(loose && hardened);
  listener_.broken = true;
  const auto ran = loose->run({.argv = {"/usr/bin/touch", "loose"}});
  ASSERT_TRUE(ran) << describe(ran.error());
  EXPECT_TRUE(std::filesystem::exists(work_.join("loose").text()));
  EXPECT_NE(ran->not_recorded.find("no room"), std::string::npos) << ran->not_recorded;
  const auto refused = hardened->run({.argv = {"/usr/bin/touch", "hardened"}});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("no room"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(work_.join("hardened").text()));
  EXPECT_FALSE(Sandbox::open({.sandbox_profile = Profile::os_hardened}, context()));
}

}  // namespace
}  // namespace harn

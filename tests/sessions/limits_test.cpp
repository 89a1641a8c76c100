// SPDX-License-Identifier: Apache-2.0
// Limits of a whole session: what its commands use together.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cli/run_program.h"
#include "support/temp_dir.h"
#include "sys/cgroup_places.h"

namespace harn {
namespace {

namespace fs = std::filesystem;

class SessionLimits : public testing::Test {
 protected:
  SessionLimits() {
    dir_.directory("home");
    dir_.directory("work");
    ::chmod(dir_.directory("run").text().c_str(), 0700);
  }
  ~SessionLimits() override { harn({"session", "terminate", "one"}); }
  void SetUp() override {
    if (sys::find_cgroup_places().kind == CgroupKind::none) GTEST_SKIP() << "this process can make no cgroup";
  }

  test::ProgramRun harn(std::vector<std::string> words) const {
    words.insert(words.begin(), HARN_BINARY);
    return test::run_program(
        {.argv = std::move(words),
         .environment = {{"HOME", dir_.path("home").text()}, {"PATH", "/usr/bin:/bin"}, {"XDG_RUNTIME_DIR", dir_.path("run").text()}},
         .cwd = dir_.path("work"),
         .scratch = dir_.path()});
  }
  test::ProgramRun leave(const std::string& script) const { return harn({"session", "exec", "--keep", "one", "--", "sh", "-c", script}); }
  std::string group() const {
    for (const auto& [controller, directory] : sys::find_cgroup_places().directories)
      for (const auto& entry : fs::directory_iterator(directory.text()))
        if (entry.path().filename().string().starts_with("harn-session-")) {
          std::ifstream owner(dir_.path("home/.local/state/harn/sessions/one/session.json").text());
          const std::string text{std::istreambuf_iterator<char>(owner), {}};
          if (text.find(entry.path().string()) != std::string::npos) return entry.path();
        }
    return {};
  }

  test::TempDir dir_;
};

TEST_F(SessionLimits, ProcessesOfAllCommandsCountTogether) {
  const auto made = harn({"session", "create", "--id", "one", "--total-procs", "24"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_FALSE(group().empty());
  EXPECT_NE(harn({"session", "show", "one"}).out.find("and of the session"), std::string::npos);
  const std::string some = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 1000 >/dev/null 2>&1 </dev/null & done; echo all";
  EXPECT_EQ(leave(some).out, "all\n");
  const auto second = leave(some);
  EXPECT_EQ(second.out.find("all"), std::string::npos) << second.err;
  EXPECT_NE(second.err.find("fork"), std::string::npos) << second.err;
  // Each command's own limit lies within.
  EXPECT_EQ(harn({"session", "terminate", "one"}).exit_code, 0);
  EXPECT_TRUE(group().empty());
}

TEST_F(SessionLimits, MemoryOfAllCommandsCountsTogether) {
  ASSERT_EQ(harn({"session", "create", "--id", "one", "--total-memory", "128M"}).exit_code, 0);
  const std::string hold =
      "python3 -c \"import time; b = b'x' * (80 << 20); open('held', 'a').write('x'); time.sleep(1000)\" >/dev/null 2>&1 </dev/null & "
      "for i "
      "in $(seq 100); do sleep 0.1; kill -0 $! 2>/dev/null || { echo ended; exit; }; test -e held && { rm held; echo held; exit; }; done";
  EXPECT_EQ(leave(hold).out, "held\n");
  leave(hold);
  // One of the two had to go: together they hold more than there is.
  EXPECT_EQ(leave("for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; echo; done 2>/dev/null | grep -c '[o]pen(.held'").out, "1\n");
}

// What would end with its command's group is not promised to stay.
TEST_F(SessionLimits, OwnLimitsAndStayingExcludeEachOther) {
  ASSERT_EQ(harn({"session", "create", "--id", "one", "--procs", "50"}).exit_code, 0);
  const auto refused = leave("true");
  EXPECT_EQ(refused.exit_code, 125);
  EXPECT_NE(refused.err.find("outlive a command with limits of its own"), std::string::npos) << refused.err;
}

TEST_F(SessionLimits, AKilledKeeperLeavesNoGroup) {
  ASSERT_EQ(harn({"session", "create", "--id", "one", "--total-procs", "50", "--total-cpus", "1.5"}).exit_code, 0);
  const auto place = group();
  std::ifstream record(dir_.path("home/.local/state/harn/sessions/one/session.json").text());
  const std::string text{std::istreambuf_iterator<char>(record), {}};
  ::kill(std::atoi(text.c_str() + text.find("\"keeper\": ") + 10), SIGKILL);
  for (int i = 0; i < 200 && harn({"session", "list"}).out.find("terminated") == std::string::npos; ++i) ::usleep(10'000);
  EXPECT_EQ(harn({"session", "gc"}).out, "cleared one\n");
  EXPECT_FALSE(fs::exists(place));
}

TEST_F(SessionLimits, ProcessorShareIsTheGroups) {
  ASSERT_EQ(harn({"session", "create", "--id", "one", "--total-cpus", "1.5"}).exit_code, 0);
  std::ifstream record(dir_.path("home/.local/state/harn/sessions/one/session.json").text());
  const std::string text{std::istreambuf_iterator<char>(record), {}};
  std::string quota;
  for (const auto& [controller, directory] : sys::find_cgroup_places().directories)
    for (const auto& entry : fs::directory_iterator(directory.text()))
      for (const auto* file : {"cpu.cfs_quota_us", "cpu.max"})
        if (text.find("\"" + entry.path().string() + "\"") != std::string::npos && fs::exists(entry.path() / file))
          std::getline(std::ifstream(entry.path() / file) >> std::ws, quota);
  EXPECT_TRUE(quota.starts_with("150000")) << quota;
}

TEST_F(SessionLimits, WrongValuesAreNamed) {
  EXPECT_NE(harn({"session", "create", "--total-procs", "many"}).err.find("--total-procs"), std::string::npos);
  EXPECT_NE(harn({"session", "create", "--total-cpus", "x"}).err.find("--total-cpus"), std::string::npos);
  EXPECT_NE(harn({"session", "create", "--total-memory", "0"}).err.find("--total-memory"), std::string::npos);
}

TEST(SessionLimitsWithoutCgroups, AreRefused) {
  if (::geteuid() != 0 && sys::find_cgroup_places().kind != CgroupKind::none) GTEST_SKIP() << "there are cgroups";
  test::TempDir dir;
  dir.directory("home");
  dir.directory("work");
  const auto refused =
      test::run_program({.argv = {HARN_BINARY, "session", "create", "--total-procs", "9"},
                         .environment = {{"HOME", dir.path("home").text()}, {"PATH", "/usr/bin:/bin"}, {"HARN_PRETEND", "cgroup=no"}},
                         .cwd = dir.path("work"),
                         .scratch = dir.path()});
  EXPECT_EQ(refused.exit_code, 125);
  EXPECT_NE(refused.err.find("does not support limits for a whole session"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace harn

// SPDX-License-Identifier: Apache-2.0
// A session whose changes wait: commands see them, the project does not until somebody says so; and a copy where no layer can lie over it.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cli/run_program.h"
#include "support/temp_dir.h"

namespace harn {
namespace {

namespace fs = std::filesystem;

class SessionOverlay : public testing::Test {
 protected:
  SessionOverlay() {
    dir_.directory("home");
    dir_.file("work/kept", "kept\n");
    dir_.file("work/gone", "this goes\n");
    dir_.file("work/sub/moved", "moved about\n");
    ::chmod(dir_.directory("run").text().c_str(), 0700);
  }
  ~SessionOverlay() override { harn({"session", "terminate", "--discard", "one"}); }

  virtual std::map<std::string, std::string> environment() const {
    return {{"HOME", dir_.path("home").text()}, {"PATH", "/usr/bin:/bin"}, {"XDG_RUNTIME_DIR", dir_.path("run").text()}};
  }
  test::ProgramRun harn(std::vector<std::string> words) const {
    words.insert(words.begin(), HARN_BINARY);
    return test::run_program({.argv = std::move(words), .environment = environment(), .cwd = dir_.path("work"), .scratch = dir_.path()});
  }
  test::ProgramRun sh(const std::string& script) const { return harn({"session", "exec", "one", "--", "sh", "-c", script}); }
  std::string host(const std::string& name) const {
    std::ifstream in(dir_.path("work/" + name).text());
    return {std::istreambuf_iterator<char>(in), {}};
  }
  bool on_host(const std::string& name) const { return fs::exists(dir_.path("work/" + name).text()); }

  void changes_wait_and_are_applied(const std::vector<std::string>& create, const std::string& session) const {
    const auto made = harn(create);
    ASSERT_EQ(made.exit_code, 0) << made.err;
    const auto in = [&](std::vector<std::string> words) {
      if (!session.empty()) words.insert(words.begin() + 1, {"--session", session});
      return harn(words);
    };
    const std::string script =
        "echo more >> kept; rm gone; mkdir new; mv sub/moved new/moved; ln -s kept link; chmod 700 sub; echo x > new/x; cat kept";
    const auto ran = session.empty() ? harn({"run", "--overlay", "--", "sh", "-c", script}) : sh(script);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.out, "kept\nmore\n");
    EXPECT_EQ(host("kept"), "kept\n");
    EXPECT_TRUE(on_host("gone"));
    EXPECT_FALSE(on_host("new"));
    const auto stat = in({"diff", "--stat"}).out;
    for (const auto* line : {"modified  kept", "deleted   gone", "added     new/", "added     new/moved  (was sub/moved)",
                             "deleted   sub/moved  (now new/moved)", "added     link", "mode      sub/", "added     new/x"})
      EXPECT_NE(stat.find(line), std::string::npos) << line << "\n" << stat;
    const auto patch = in({"diff"}).out;
    EXPECT_NE(patch.find("rename from sub/moved\nrename to new/moved\n"), std::string::npos) << patch;
    EXPECT_NE(patch.find("+more\n"), std::string::npos) << patch;
    EXPECT_NE(in({"diff", "--json"}).out.find("\"renamed_from\""), std::string::npos);
    // Somebody edits meanwhile: that stays.
    std::ofstream(dir_.path("work/kept").text()) << "edited outside\n";
    const auto applied = in({"apply"});
    EXPECT_NE(applied.exit_code, 0);
    EXPECT_NE(applied.err.find("kept  (conflict"), std::string::npos) << applied.err;
    EXPECT_EQ(host("kept"), "edited outside\n");
    EXPECT_FALSE(on_host("gone"));
    EXPECT_EQ(host("new/moved"), "moved about\n");
    EXPECT_FALSE(on_host("sub/moved"));
    EXPECT_TRUE(fs::is_symlink(dir_.path("work/link").text()));
    EXPECT_EQ(in({"diff", "--stat"}).out, "modified  kept  (conflict: it was changed on the host meanwhile)\n");
  }

  test::TempDir dir_;
};

TEST_F(SessionOverlay, ChangesWaitAndAreApplied) {
  changes_wait_and_are_applied({"session", "create", "--id", "one", "--overlay"}, "one");
  // Commands still see what they made, and what was applied.
  EXPECT_EQ(sh("cat kept; cat new/moved; ls gone").out, "kept\nmore\nmoved about\n");
  EXPECT_EQ(sh("echo again > new/y").exit_code, 0);
  EXPECT_EQ(harn({"apply", "--session", "one", "new/y"}).exit_code, 0);
  EXPECT_EQ(host("new/y"), "again\n");
  // What waits is not lost by ending it.
  const auto refused = harn({"session", "terminate", "one"});
  EXPECT_EQ(refused.exit_code, 125);
  EXPECT_NE(refused.err.find("changes of the workspace wait"), std::string::npos) << refused.err;
  EXPECT_EQ(harn({"discard", "--session", "one"}).exit_code, 125);
  EXPECT_EQ(harn({"session", "snapshot", "one"}).exit_code, 125);
  EXPECT_EQ(harn({"session", "terminate", "--discard", "one"}).exit_code, 0);
  EXPECT_EQ(host("kept"), "edited outside\n");
}

TEST_F(SessionOverlay, NothingIsAppliedWhileCommandsRun) {
  ASSERT_EQ(harn({"session", "create", "--id", "one", "--overlay"}).exit_code, 0);
  ASSERT_EQ(harn({"session", "exec", "--keep", "one", "--", "sh", "-c", "echo x > made; setsid sleep 1000 >/dev/null 2>&1 </dev/null &"})
                .exit_code,
            0);
  const auto refused = harn({"apply", "--session", "one"});
  EXPECT_EQ(refused.exit_code, 125);
  EXPECT_NE(refused.err.find("run in"), std::string::npos) << refused.err;
  EXPECT_FALSE(on_host("made"));
}

TEST_F(SessionOverlay, AKilledKeeperLosesNothing) {
  ASSERT_EQ(harn({"session", "create", "--id", "one", "--overlay"}).exit_code, 0);
  ASSERT_EQ(sh("echo x > made").exit_code, 0);
  std::ifstream record(dir_.path("home/.local/state/harn/sessions/one/session.json").text());
  const std::string text{std::istreambuf_iterator<char>(record), {}};
  ::kill(std::atoi(text.c_str() + text.find("\"keeper\": ") + 10), SIGKILL);
  for (int i = 0; i < 200 && harn({"session", "list"}).out.find("terminated") == std::string::npos; ++i) ::usleep(10'000);
  EXPECT_EQ(harn({"session", "gc"}).out, "");
  EXPECT_EQ(harn({"apply", "--session", "one"}).exit_code, 0);
  EXPECT_EQ(host("made"), "x\n");
  EXPECT_EQ(harn({"session", "gc"}).out, "cleared one\n");
}

// A layer cannot be kept on an overlay of somebody else's, as in a container: the tree is copied.
class OnACopy : public SessionOverlay {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can make a file system on which no layer can be kept";
    for (const auto* part : {"lower", "upper", "wd", "state"}) dir_.directory(part);
    const auto options =
        "lowerdir=" + dir_.path("lower").text() + ",upperdir=" + dir_.path("upper").text() + ",workdir=" + dir_.path("wd").text();
    if (::mount("overlay", dir_.path("state").text().c_str(), "overlay", 0, options.c_str()) != 0)
      GTEST_SKIP() << "no overlay can be mounted here at all";
  }
  void TearDown() override {
    harn({"session", "terminate", "--discard", "one"});
    ::umount2(dir_.path("state").text().c_str(), MNT_DETACH);
  }
  std::map<std::string, std::string> environment() const override {
    auto out = SessionOverlay::environment();
    out["XDG_STATE_HOME"] = dir_.path("state").text();
    return out;
  }
};

TEST_F(OnACopy, ARunsChangesWait) {
  changes_wait_and_are_applied({"run", "--overlay", "--", "true"}, "");
  EXPECT_NE(harn({"run", "--overlay", "--", "true"}).err.find("works on a copy"), std::string::npos);
  // Files made on the host since are no changes of the command's.
  std::ofstream(dir_.path("work/since").text()) << "new\n";
  EXPECT_EQ(harn({"diff", "--stat"}).out.find("since"), std::string::npos);
  EXPECT_EQ(harn({"discard"}).exit_code, 0);
  EXPECT_EQ(harn({"diff", "--stat"}).out, "");
}

TEST_F(OnACopy, ASessionsChangesWait) { changes_wait_and_are_applied({"session", "create", "--id", "one", "--overlay"}, "one"); }

}  // namespace
}  // namespace harn

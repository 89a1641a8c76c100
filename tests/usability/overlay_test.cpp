// SPDX-License-Identifier: Apache-2.0
// A workspace that can be taken back: commands work on a layer over it, and people decide what stays.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "usability/person.h"
#include "usability/terminal.h"

namespace harn::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// Every name with kind, permissions and content.
std::map<std::string, std::string> tree(const std::string& root) {
  std::map<std::string, std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    struct stat seen = {};
    ::lstat(entry.path().c_str(), &seen);
    auto& text = out[entry.path().lexically_relative(root)];
    text = S_ISLNK(seen.st_mode) ? "link " : std::to_string(seen.st_mode) + " ";
    if (S_ISREG(seen.st_mode)) text += read_whole(entry.path());
    if (S_ISLNK(seen.st_mode)) text += fs::read_symlink(entry.path()).string();
  }
  return out;
}

class Overlay : public testing::TestWithParam<Who> {
 protected:
  void SetUp() override {
    person_.file("project/a", "one\ntwo\n");
    person_.file("project/sub/b", "b\n");
    person_.file("project/sub/deep/c", "c\n");
    before_ = tree(person_.project());
  }

  Finished over(const std::string& script) const { return person_.harn({"run", "--overlay", "--", "sh", "-c", script}); }
  std::string text(const std::string& relative) const { return read_whole(person_.project() + "/" + relative); }

  Person person_{GetParam()};
  std::map<std::string, std::string> before_;
};

// What git can express, git applies; the rest stands between the patches as words.
TEST_P(Overlay, TheDiffIsAPatch) {
  ASSERT_EQ(over("echo three >> a; mkdir -p n/d; echo t > n/d/f; ln -s a l; chmod +x sub/b; chmod 600 sub/deep/c; : > empty").exit_code, 0);
  const auto patch = person_.harn({"diff"}).out;
  EXPECT_NE(patch.find("# n is a new directory\n"), std::string::npos) << patch;
  EXPECT_NE(patch.find("# sub/deep/c has the permissions 0600, and had 0644\n"), std::string::npos) << patch;
  EXPECT_NE(patch.find("new file mode 120000\n"), std::string::npos) << patch;
  const auto file = person_.file("all.patch", patch);
  EXPECT_EQ(finish(person_.start_program({"/usr/bin/env", "git", "-C", person_.project(), "apply", file})), 0);
  EXPECT_EQ(text("a") + text("n/d/f") + text("l") + text("empty"), "one\ntwo\nthree\nt\none\ntwo\nthree\n");
  EXPECT_EQ(::access((person_.project() + "/sub/b").c_str(), X_OK), 0);
  ASSERT_EQ(person_.harn({"discard"}).exit_code, 0);
  ASSERT_EQ(over("printf '\\000\\001' > bin").exit_code, 0);
  EXPECT_EQ(person_.harn({"diff"}).out, "diff --git a/bin b/bin\nnew file mode 100644\nBinary files /dev/null and b/bin differ\n");
}

// A copy would pass every test below, and cost a large project dearly.
TEST_P(Overlay, ALayerLiesOverTheProject) {
  const auto ran = over("stat -f -c %t .");
  EXPECT_EQ(ran.out, "794c7630\n") << "the magic number of overlayfs";
  EXPECT_EQ(ran.err.find("copy"), std::string::npos) << ran.err;
}

TEST_P(Overlay, ChangesWaitAreShownAndApplied) {
  const auto ran = over("echo three >> a; rm sub/b; mkdir n; echo new > n/f; ln -s a l; cat a");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out, "one\ntwo\nthree\n");
  EXPECT_NE(ran.err.find("5 changes of the workspace wait ('harn diff', 'harn apply', 'harn discard')"), std::string::npos) << ran.err;
  EXPECT_EQ(tree(person_.project()), before_) << "nothing of it is there yet";
  EXPECT_EQ(over("cat a n/f").out, "one\ntwo\nthree\nnew\n") << "the next command goes on where the last one stopped";

  EXPECT_EQ(person_.harn({"diff", "--stat"}).out, "modified  a\nadded     l\nadded     n/\nadded     n/f\ndeleted   sub/b\n");
  const auto shown = person_.harn({"diff", "a"});
  EXPECT_EQ(shown.out, "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,3 @@\n one\n two\n+three\n");

  EXPECT_EQ(person_.harn({"apply", "n"}).exit_code, 0);
  EXPECT_EQ(text("n/f"), "new\n");
  EXPECT_EQ(text("a"), "one\ntwo\n");
  const auto rest = person_.harn({"apply"});
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_EQ(rest.out, "deleted   sub/b\napplied 3, left 0\n") << "what is deleted is always listed";
  EXPECT_EQ(text("a"), "one\ntwo\nthree\n");
  EXPECT_FALSE(fs::exists(person_.project() + "/sub/b"));
  EXPECT_EQ(person_.harn({"diff"}).out, "");
  EXPECT_EQ(person_.harn({"apply"}).exit_code, 2) << "nothing waits any more";
}

TEST_P(Overlay, DiscardingForgetsEverything) {
  over("rm -rf sub; echo x > a");
  EXPECT_EQ(person_.harn({"discard"}).out, "discarded 5 changes\n");
  EXPECT_EQ(tree(person_.project()), before_);
  EXPECT_EQ(over("cat a").out, "one\ntwo\n");
}

TEST_P(Overlay, WhatTheHostChangedMeanwhileStays) {
  over("echo mine > a; echo mine > sub/b");
  person_.file("project/a", "theirs\n");
  const auto applied = person_.harn({"apply"});
  EXPECT_EQ(applied.exit_code, 1);
  EXPECT_NE(applied.err.find("modified  a  (conflict: it was changed on the host meanwhile)"), std::string::npos) << applied.err;
  EXPECT_EQ(text("a"), "theirs\n");
  EXPECT_EQ(text("sub/b"), "mine\n");
}

TEST_P(Overlay, ProtectedNamesNeedAYes) {
  over("echo '[limits]' > harn.toml; echo ok > fine");
  const auto applied = person_.harn({"apply"});
  EXPECT_EQ(applied.exit_code, 1);
  EXPECT_NE(applied.err.find("added     harn.toml  (protected)"), std::string::npos) << applied.err;
  EXPECT_TRUE(fs::exists(person_.project() + "/fine"));
  EXPECT_FALSE(fs::exists(person_.project() + "/harn.toml"));
  EXPECT_EQ(person_.harn({"apply", "--protected"}).exit_code, 0);
  EXPECT_EQ(text("harn.toml"), "[limits]\n");
}

TEST_P(Overlay, ARepositoryThatACommandMadeNeedsAYesToo) {
  over("mkdir -p sub/.git/hooks sub2; echo evil > sub/.git/hooks/pre-commit; echo 'gitdir: ../sub/.git' > sub2/.git; echo ok > fine");
  const auto applied = person_.harn({"apply"});
  EXPECT_EQ(applied.exit_code, 1);
  EXPECT_NE(applied.err.find("sub2/.git  (protected)"), std::string::npos) << applied.err;
  EXPECT_FALSE(fs::exists(person_.project() + "/sub/.git"));
  EXPECT_FALSE(fs::exists(person_.project() + "/sub2/.git"));
  EXPECT_EQ(text("fine"), "ok\n");
}

TEST_P(Overlay, WhatACommandWroteDoesNotDriveTheTerminal) {
  over("printf 'evil\\033[2J\\n' > shown; touch \"$(printf 'na\\033[2Jme')\"");
  Terminal terminal(person_, person_.harn_words({"diff"}));
  EXPECT_TRUE(terminal.await_text("evil\\x1b[2J")) << terminal.seen();
  EXPECT_EQ(terminal.finish(), 0);
  EXPECT_EQ(terminal.seen().find('\x1b'), std::string::npos) << terminal.seen();
  EXPECT_NE(person_.harn({"diff", "shown"}).out.find("evil\x1b[2J"), std::string::npos) << "a file or a pipe gets the bytes";
}

TEST_P(Overlay, OneCommandAtATime) {
  const pid_t first = person_.start({"run", "--overlay", "--", "sh", "-c", "echo up > up; exec sleep 60"});
  Finished second;
  for (int i = 0; i < 100; ++i) {
    second = person_.harn({"diff"});
    if (second.exit_code == 125 || second.exit_code == 2) break;
    std::this_thread::sleep_for(50ms);
  }
  EXPECT_NE(second.err.find("another command is at work on the pending changes of this project"), std::string::npos) << second.err;
  ::kill(first, SIGTERM);
  finish(first);
}

TEST_P(Overlay, WithoutAViewNothingRuns) {
  person_.environment()["HARN_PRETEND"] = "userns=no";
  const auto refused = over("touch ran");
  EXPECT_EQ(refused.exit_code, 125);
  EXPECT_NE(refused.err.find("--overlay needs the view"), std::string::npos) << refused.err;
  EXPECT_EQ(person_.harn({"run", "--overlay", "--no-sandbox", "--", "touch", "ran"}).exit_code, 125);
  EXPECT_EQ(tree(person_.project()), before_);
}

// Any script leaves the same tree behind, run in the project itself or over it and applied.
std::string random_script(std::mt19937& random) {
  static constexpr const char* names[] = {"a", "sub", "sub/b", "sub/deep", "sub/deep/c", "x", "sub/x", "x/y"};
  const auto name = [&] { return std::string(names[random() % std::size(names)]); };
  std::string out = "{ ";
  for (int i = 0; i < 12; ++i) {
    switch (random() % 9) {
      case 0: out += "echo " + std::to_string(random() % 100) + " >> " + name(); break;
      case 1: out += "rm -rf " + name(); break;
      case 2: out += "mkdir -p " + name(); break;
      case 3: out += "mv -T " + name() + " " + name(); break;
      case 4: out += "ln -sfn " + name() + " " + name(); break;
      case 5: out += "chmod 7" + std::to_string(random() % 8) + "5 " + name(); break;
      // Not from itself into itself: what that leaves behind depends on the order a directory is listed in.
      case 6: out += "cp -r " + name() + " tmp.copy && cp -r tmp.copy " + name() + "; rm -rf tmp.copy"; break;
      case 7: out += "rm -rf sub && mkdir sub && echo anew > sub/b"; break;
      case 8: out += "echo again > tmp.new && mv -f tmp.new " + name(); break;
    }
    out += "; ";
  }
  return out + "true; } 2>/dev/null";
}

TEST_P(Overlay, AppliedIsAsIfItHadRunInPlace) {
  const auto seed = static_cast<unsigned>(::getpid()) + static_cast<unsigned>(GetParam()) * 7919;
  std::mt19937 random(seed);
  for (int round = 0; round < 12; ++round) {
    const auto script = random_script(random);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + script);
    const auto start = tree(person_.project());
    ASSERT_EQ(over(script).exit_code, 0);
    ASSERT_EQ(tree(person_.project()), start);
    const auto through = person_.harn({"run", "--overlay", "--", "sh", "-c", "find . -mindepth 1 | sort"}).out;
    const auto applied = person_.harn({"apply"});
    ASSERT_TRUE(applied.exit_code == 0 || applied.exit_code == 2) << applied.out << applied.err;
    EXPECT_EQ(person_.harn({"run", "--", "sh", "-c", "find . -mindepth 1 | sort"}).out, through);
    const auto after = tree(person_.project());
    ASSERT_EQ(person_.harn({"discard"}).exit_code, 0);

    // The same in place, from the same start.
    for (const auto& entry : fs::directory_iterator(person_.project())) fs::remove_all(entry.path());
    for (const auto& [path, text] : start) {
      const auto at = person_.project() + "/" + path;
      const auto content = text.substr(text.find(' ') + 1);
      if (text.starts_with("link ")) fs::create_symlink(content, at);
      else if (S_ISDIR(std::stoul(text))) fs::create_directory(at);
      else person_.file("project/" + path, content);
    }
    for (const auto& [path, text] : start)
      if (!text.starts_with("link ")) ::chmod((person_.project() + "/" + path).c_str(), std::stoul(text) & 07777);
    const bool nobody = GetParam() == Who::nobody;
    const uid_t owner = nobody ? 65534 : ::geteuid();
    const gid_t group = nobody ? 65534 : ::getegid();
    for (const auto& [path, text] : start) ASSERT_EQ(::lchown((person_.project() + "/" + path).c_str(), owner, group), 0);
    ASSERT_EQ(person_.sh(script).exit_code, 0);
    ASSERT_EQ(tree(person_.project()), after);
  }
}

// Whenever it dies, the next apply finishes: every file is the old one or the new one, and nothing is left lying about.
TEST_P(Overlay, ApplyingCanBeKilledAtAnyMoment) {
  over("for i in $(seq 300); do echo new $i > f$i; echo more >> a; done; rm -r sub");
  std::mt19937 random(static_cast<unsigned>(::getpid()));
  for (int i = 0; i < 25; ++i) {
    const pid_t applying = person_.start({"apply"});
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 30000));
    ::kill(applying, SIGKILL);
    finish(applying);
    const auto now = text("a");
    ASSERT_TRUE(now == "one\ntwo\n" || now.size() == 8 + 300 * 5) << now;
  }
  const auto last = person_.harn({"apply"});
  ASSERT_TRUE(last.exit_code == 0 || last.exit_code == 2) << last.err;
  for (int i = 1; i <= 300; ++i) ASSERT_EQ(text("f" + std::to_string(i)), "new " + std::to_string(i) + "\n");
  EXPECT_FALSE(fs::exists(person_.project() + "/sub"));
  for (const auto& entry : fs::directory_iterator(person_.project()))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".harn-apply-")) << entry.path();
}

INSTANTIATE_TEST_SUITE_P(As, Overlay, testing::ValuesIn(everybody()), testing::PrintToStringParamName());

}  // namespace
}  // namespace harn::test

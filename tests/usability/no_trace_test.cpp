// SPDX-License-Identifier: Apache-2.0
// After a run the project is as it was, to the byte and to the time of every name, except for what the
// command did.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include <gtest/gtest.h>

#include "usability/live_processes.h"
#include "usability/person.h"

namespace harn::test {
namespace {

// Path to kind, mode, owner, time of change and contents.
using Snapshot = std::map<std::string, std::string>;

std::string describe(const std::filesystem::path& path) {
  struct stat seen = {};
  if (::lstat(path.c_str(), &seen) != 0) return "gone";
  std::string text = std::to_string(seen.st_mode) + " " + std::to_string(seen.st_uid) + " " + std::to_string(seen.st_mtim.tv_sec) + "." +
                     std::to_string(seen.st_mtim.tv_nsec) + " ";
  if (S_ISREG(seen.st_mode)) text += read_whole(path);
  if (S_ISLNK(seen.st_mode)) text += std::filesystem::read_symlink(path).string();
  return text;
}

Snapshot look_at(const std::string& root) {
  Snapshot out = {{".", describe(root)}};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
    out[entry.path().lexically_relative(root)] = describe(entry.path());
  return out;
}

class NoTrace : public testing::TestWithParam<Who> {
 protected:
  Person person_{GetParam()};

  void SetUp() override {
    person_.file("project/harn.toml", "[limits]\nmax_processes = 500\n");
    person_.file("project/src/a.c", "int a;\n");
    person_.file("project/secret/key", "do not read\n");
    person_.file("project/.git/config", "[core]\n\tbare = false\n");
    person_.file("project/.git/hooks/pre-commit", "#!/bin/sh\n");
    person_.file("project/.git/HEAD", "ref: refs/heads/main\n");
    std::filesystem::create_symlink("src/a.c", person_.project() + "/link");
  }

  void expect_no_trace_of(const std::vector<std::string>& words, int exit_code) const {
    const auto before = look_at(person_.project());
    const auto ran = person_.harn(words);
    EXPECT_EQ(ran.exit_code, exit_code) << ran.err;
    EXPECT_EQ(look_at(person_.project()), before) << testing::PrintToString(words);
  }
};

TEST_P(NoTrace, OfACommandThatChangesNothing) {
  expect_no_trace_of({"run", "--", "cat", "src/a.c"}, 0);
  expect_no_trace_of({"run", "--deny", "secret", "--deny", "absent", "--", "cat", "src/a.c"}, 0);
  expect_no_trace_of({"run", "--json", "--", "true"}, 0);
}

TEST_P(NoTrace, OfACommandThatFails) {
  expect_no_trace_of({"run", "--", "sh", "-c", "exit 9"}, 9);
  expect_no_trace_of({"run", "--", "no-such-program"}, 127);
  expect_no_trace_of({"run", "--", "src/a.c"}, 126);
  expect_no_trace_of({"run", "--no-such-option", "--", "true"}, 125);
}

TEST_P(NoTrace, OfACommandThatIsRefused) {
  expect_no_trace_of({"run", "--", "sh", "-c", "echo x > harn.toml"}, 2);
  expect_no_trace_of({"run", "--", "sh", "-c", "echo x > .git/hooks/pre-commit"}, 2);
  expect_no_trace_of({"run", "--deny", "secret", "--", "sh", "-c", "cat secret/key"}, 1);
}

TEST_P(NoTrace, OfACommandThatTookTooLong) { expect_no_trace_of({"run", "--timeout", "200ms", "--", "sleep", "60"}, 124); }

TEST_P(NoTrace, OfARunThatWasKilled) {
  person_.environment()["MARK"] = "harn-trace-" + std::to_string(::getpid());
  const auto before = look_at(person_.project());
  const pid_t pid = person_.start({"run", "--deny", "secret", "--", "sleep", "60"});
  EXPECT_TRUE(await([&] { return processes_named(person_.environment()["MARK"]).size() >= 2; }));
  ::kill(pid, SIGKILL);
  finish(pid);
  EXPECT_EQ(look_at(person_.project()), before);
  expect_no_trace_of({"run", "--", "true"}, 0);
}

TEST_P(NoTrace, OtherThanWhatTheCommandDid) {
  auto before = look_at(person_.project());
  EXPECT_EQ(person_.sh("echo new > src/b.c; echo scratch > /tmp/t; echo home > ~/h").exit_code, 0);
  auto after = look_at(person_.project());
  EXPECT_EQ(after.erase("src/b.c"), 1u);
  for (auto* snapshot : {&before, &after}) snapshot->erase("src");
  EXPECT_EQ(after, before);
}

// Without user namespaces the private temporary directory is a real one inside the project, so the
// project's own time of change moves; nothing else does.
TEST_P(NoTrace, WithoutUserNamespaces) {
  person_.start_through({"/usr/bin/unshare", "--user", "--map-root-user", "/bin/sh", "-c",
                         "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"", "sh"});
  const std::vector<std::string> run = {"run", "--backend", "linux", "--", "sh", "-c"};
  const auto with = [&](const std::string& script) {
    auto words = run;
    words.push_back(script);
    return words;
  };
  if (person_.harn({"version"}).exit_code != 0) GTEST_SKIP() << "unshare --user does not work here";
  auto before = look_at(person_.project());
  before.erase(".");
  const auto same = [&] {
    auto after = look_at(person_.project());
    after.erase(".");
    return after == before;
  };
  const auto ran = person_.harn(with("echo x > $TMPDIR/t; echo $TMPDIR"));
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out, person_.project() + "/.harn-tmp\n") << "this was to be the tier with a scratch directory";
  EXPECT_TRUE(same());

  person_.environment()["MARK"] = "harn-trace-" + std::to_string(::getpid());
  const pid_t pid = person_.start(with("mkdir -p $TMPDIR/a/b; echo x > $TMPDIR/a/b/c; setsid sleep 60 & sleep 60"));
  EXPECT_TRUE(await([&] { return std::filesystem::exists(person_.project() + "/.harn-tmp/a/b/c"); }));
  ::kill(pid, SIGKILL);
  finish(pid);
  EXPECT_EQ(person_.harn(with("exit 4")).exit_code, 4);
  EXPECT_TRUE(same()) << "what a killed run left is removed by the next";
}

INSTANTIATE_TEST_SUITE_P(As, NoTrace, testing::ValuesIn(everybody()), testing::PrintToStringParamName());

}  // namespace
}  // namespace harn::test

// SPDX-License-Identifier: Apache-2.0
// A machine with a ceiling: /etc/harn/ceiling.toml as it would stand there, over an /etc of this process's
// own. Nobody asks for more than it allows, whichever way.
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "harn/embed.h"
#include "harn/scope.h"
#include "usability/person.h"

namespace harn::test {
namespace {

// Empty, or why this process cannot have an /etc of its own.
std::string take_own_etc(const std::string& place) {
  if (::geteuid() != 0) return "only root sets a ceiling";
  const auto options = "lowerdir=/etc,upperdir=" + place + "/upper,workdir=" + place + "/work";
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("tmpfs", place.c_str(), "tmpfs", 0, "mode=755") != 0 || ::mkdir((place + "/upper").c_str(), 0755) != 0 ||
      ::mkdir((place + "/work").c_str(), 0755) != 0 || ::mount("overlay", "/etc", "overlay", 0, options.c_str()) != 0)
    return "this machine mounts no overlay";
  std::filesystem::create_directories("/etc/harn");
  return {};
}

constexpr const char* file = "/etc/harn/ceiling.toml";

void set(const std::string& text, ::mode_t mode = 0644) {
  std::ofstream(file) << text;
  ::chmod(file, mode);
}

// Empty, or why not.
const std::string& first_ceiling() {
  static const TempDir place;
  static const std::string why_not = take_own_etc(place.root());
  if (why_not.empty()) set("sandbox_profile = \"worktree\"\n[limits]\nmax_memory_mb = 200\n");
  return why_not;
}

class Ceiling : public testing::TestWithParam<Who> {
 protected:
  void SetUp() override {
    if (!first_ceiling().empty()) GTEST_SKIP() << first_ceiling();
  }

  Person person_{GetParam()};
};

TEST_P(Ceiling, NothingRunsWithoutASandbox) {
  const std::string told = "the command would run without a sandbox, and the system's ceiling requires profile 'worktree'";
  for (const std::vector<std::string>& flags : {std::vector<std::string>{"--no-sandbox"}, {"--sandbox", "none"}}) {
    std::vector<std::string> words = {"run"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"--", "touch", "ran"});
    const auto refused = person_.harn(words);
    EXPECT_EQ(refused.exit_code, 125);
    EXPECT_NE(refused.err.find(told), std::string::npos) << refused.err;
  }
  person_.environment()["HARN_HANDLER_SANDBOX"] = "off";
  EXPECT_NE(person_.harn({"run", "--", "touch", "ran"}).err.find(told), std::string::npos);
  person_.environment()["HARN_HANDLER_SANDBOX"] = "warn";
  person_.environment()["HARN_PRETEND"] = "landlock=0,userns=no,bubblewrap=no,firejail=no,seccomp=no";
  const auto poor = person_.harn({"run", "--", "touch", "ran"});
  EXPECT_EQ(poor.exit_code, 125) << poor.err;
  EXPECT_NE(poor.err.find("the system's ceiling requires it"), std::string::npos) << poor.err;
  EXPECT_FALSE(std::filesystem::exists(person_.project() + "/ran"));
  set("sandbox_profile = \"unrestricted\"\n");
  person_.environment().erase("HARN_PRETEND");
  EXPECT_EQ(person_.harn({"run", "--no-sandbox", "--", "true"}).exit_code, 0) << "unless the ceiling says so";
}

TEST_P(Ceiling, WhatFlagsAskForBeyondItIsCutAndSaid) {
  const auto cut = person_.harn({"run", "--memory", "500M", "--", "true"});
  EXPECT_EQ(cut.exit_code, 0) << cut.err;
  EXPECT_NE(cut.err.find("warning: the system ceiling narrows: limits.max_memory_mb 500 becomes 200"), std::string::npos) << cut.err;
  const auto less = person_.harn({"run", "--memory", "100M", "--", "true"});
  EXPECT_EQ(less.err.find("ceiling"), std::string::npos) << less.err;
}

TEST_P(Ceiling, OneThatOthersCouldChangeIsAnError) {
  set("sandbox_profile = \"worktree\"\n", 0666);
  const auto refused = person_.harn({"run", "--", "true"});
  EXPECT_EQ(refused.exit_code, 125);
  EXPECT_NE(refused.err.find("'/etc/harn/ceiling.toml' can be changed by others than root"), std::string::npos) << refused.err;
  set("sandbox_profile = \"worktree\"\nno_such = 1\n");
  EXPECT_EQ(person_.harn({"run", "--", "true"}).exit_code, 125);
}

TEST(CeilingHere, BindsProgramsThatEmbedHarn) {
  if (!first_ceiling().empty()) GTEST_SKIP() << first_ceiling();
  const Person person(Who::caller);
  const Context context{.environment = {{"HOME", person.home()}, {"PATH", "/usr/bin:/bin"}, {"XDG_STATE_HOME", person.root() + "/state"}},
                        .cwd = AbsPath::of(person.project())};
  const auto open = Sandbox::open({}, context);
  ASSERT_TRUE(open) << describe(open.error());
  const auto scope = PolicyScope::enter({}, {.allow_demotion = true});
  ASSERT_TRUE(scope) << describe(scope.error());
  const auto weaker = open->run({.argv = {"/bin/true"}}, {.profile = Profile::unrestricted});
  ASSERT_FALSE(weaker);
  EXPECT_EQ(weaker.error().message, "profile 'unrestricted' is weaker than 'worktree', which the system's ceiling requires");
  const auto around = Sandbox::open({}, context, {.no_sandbox = true});
  ASSERT_TRUE(around) << describe(around.error());
  EXPECT_EQ(around->run({.argv = {"/bin/true"}}).error().code, ErrorCode::refused);
}

INSTANTIATE_TEST_SUITE_P(As, Ceiling, testing::ValuesIn(everybody()), testing::PrintToStringParamName());

}  // namespace
}  // namespace harn::test

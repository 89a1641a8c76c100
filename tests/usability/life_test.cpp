// SPDX-License-Identifier: Apache-2.0
// Nothing stays behind: whatever becomes of harn or of the command, at whatever moment.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include <gtest/gtest.h>

#include "usability/live_processes.h"
#include "usability/person.h"

namespace harn::test {
namespace {

// Everything a run could leave on the host, as sorted lines.
std::vector<std::string> host_state(const Person& person) {
  std::vector<std::string> out;
  const auto add_names = [&](const std::string& directory, std::string_view part) {
    std::error_code ignored;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(directory, std::filesystem::directory_options::skip_permission_denied, ignored))
      if (entry.path().filename().string().find(part) != std::string::npos) out.push_back(entry.path());
  };
  add_names("/sys/fs/cgroup", "harn");
  add_names("/dev/shm", "");
  add_names(person.project(), "");
  add_names(person.home(), "");
  out.push_back(read_whole("/proc/self/mountinfo"));
  std::ranges::sort(out);
  return out;
}

class Life : public testing::TestWithParam<Who> {
 protected:
  Person person_{GetParam()};
  const std::string mark_ = "harn-life-" + std::to_string(::getpid());

  void SetUp() override { person_.environment()["MARK"] = mark_; }
  bool anybody() const { return !processes_named(mark_).empty(); }
  // A tree that does not want to end, whatever its first process does then.
  pid_t start_stubborn(const std::string& then) const {
    return person_.start({"run", "--backend", "linux", "--timeout", "60s", "--", "sh", "-c",
                          "trap '' HUP INT TERM; setsid sleep 60 & (sleep 60 &) ; " + then});
  }
};

void end_at_a_random_moment(pid_t pid, std::mt19937& random) {
  ::usleep(std::uniform_int_distribution<useconds_t>(0, 30'000)(random));
  constexpr int ways[] = {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGSTOP};
  const int way = ways[random() % std::size(ways)];
  ::kill(pid, way);
  if (way == SIGSTOP) ::kill(pid, SIGKILL);
}

// The control of the tests below: a live command would be seen.
TEST_P(Life, ALiveCommandIsSeen) {
  const pid_t pid = person_.start({"run", "--", "sleep", "60"});
  EXPECT_TRUE(await([&] { return processes_named(mark_).size() >= 2; }));
  ::kill(pid, SIGKILL);
  finish(pid);
  EXPECT_TRUE(await([&] { return !anybody(); }));
}

// Half of the commands leave descendants in sessions of their own, which ignore what can be ignored.
TEST_P(Life, NothingIsLeftWhateverEndsHarn) {
  ASSERT_EQ(person_.sh("true").exit_code, 0);  // what is made once per user exists now
  const auto before = host_state(person_);
  std::mt19937 random(1);
  const int rounds = ::geteuid() == 0 ? 250 : 500;
  for (int i = 0; i < rounds; ++i) {
    const pid_t pid = person_.start({"run", "--timeout", "60s", "--", "sh", "-c",
                                     i % 2 == 0 ? "exec sleep 60" : "trap '' HUP INT TERM; setsid sleep 60 & (sleep 60 &) ; sleep 60"});
    end_at_a_random_moment(pid, random);
    // Who asked politely and was ignored does not get to wait.
    if (!await([&] { return has_ended(pid) || i % 2 == 1; })) ADD_FAILURE() << "round " << i << " goes on";
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  EXPECT_TRUE(await([&] { return !anybody(); })) << processes_named(mark_).size() << " processes survive";
  ASSERT_EQ(person_.sh("true").exit_code, 0);
  EXPECT_EQ(host_state(person_), before);
}

// Where a supervisor holds the tree, what kills the supervisor ends the tree, and harn comes back.
TEST_P(Life, NothingIsLeftWhenTheSupervisorIsKilled) {
  person_.environment()["HARN_PRETEND"] = "userns=no";
  ASSERT_EQ(person_.sh("true").exit_code, 0);
  std::mt19937 random(2);
  for (int i = 0; i < 100; ++i) {
    const pid_t pid = start_stubborn("while :; do echo x > f; mv f g; rm g; done");
    pid_t supervisor = 0;
    EXPECT_TRUE(await([&] {
      std::ifstream children("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
      return static_cast<bool>(children >> supervisor) && supervisor > 0;
    }));
    ::usleep(std::uniform_int_distribution<useconds_t>(0, 15'000)(random));
    ::kill(supervisor, SIGKILL);
    if (!await([&] { return has_ended(pid); })) ADD_FAILURE() << "round " << i << " goes on";
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  EXPECT_TRUE(await([&] { return !anybody(); })) << processes_named(mark_).size() << " processes survive";
}

// harn itself killed at any moment: the supervisor ends the tree before itself.
TEST_P(Life, NothingIsLeftWithoutNamespacesEither) {
  person_.environment()["HARN_PRETEND"] = "userns=no";
  ASSERT_EQ(person_.sh("true").exit_code, 0);
  std::mt19937 random(3);
  for (int i = 0; i < 150; ++i) {
    const pid_t pid = start_stubborn("sleep 60");
    end_at_a_random_moment(pid, random);
    ::usleep(2'000);
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  EXPECT_TRUE(await([&] { return !anybody(); })) << processes_named(mark_).size() << " processes survive";
}

TEST_P(Life, SignalsReachTheCommand) {
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT}) {
    Pipe pipe;
    const auto text = std::to_string(number);
    const pid_t pid = person_.start({"run", "--", "bash", "-c", "trap 'exit 77' " + text + "; echo ready; while :; do sleep 0.01; done"},
                                    {.out = pipe.writer.get()});
    char ready[6];
    ASSERT_EQ(::read(pipe.reader.get(), ready, sizeof ready), 6);
    ::kill(pid, number);
    EXPECT_EQ(finish(pid), 77) << "signal " << number;
  }
}

struct Descendant {
  std::string_view name = {};
  std::string_view script = {};  // starts one process and waits until it runs
};

constexpr Descendant descendants[] = {
    {"in the background", "sleep 60 & "},
    {"double-forked", "(sleep 60 &)"},
    {"in a session of its own", "setsid sleep 60 &"},
    {"stopped", "sleep 60 & kill -STOP $!"},
    {"deaf", "(trap '' HUP INT TERM QUIT USR1; exec sleep 60) &"},
    {"without streams", "sleep 60 <&- >&- 2>&- &"},
    {"holding the output", "setsid sleep 60 >&1 &"},
};

TEST_P(Life, DescendantsDoNotSurviveAndAreCounted) {
  for (const auto& descendant : descendants) {
    const auto ran = person_.harn({"run", "--json", "--", "bash", "-c", std::string(descendant.script) + "\nexit 3"});
    EXPECT_EQ(ran.exit_code, 3) << descendant.name << "\n" << ran.err;
    EXPECT_NE(ran.out.find("\"killed_processes\": 1,"), std::string::npos) << descendant.name << "\n" << ran.out;
    EXPECT_TRUE(await([&] { return !anybody(); })) << descendant.name;
  }
}

// A pipe ends for its reader when the last writer is gone; nobody waits for sixty seconds here.
TEST_P(Life, OutputHeldOpenDoesNotDelayTheEnd) {
  Pipe pipe;
  const pid_t pid = person_.start({"run", "--", "sh", "-c", "setsid sleep 60 & exit 0"}, {.out = pipe.writer.get()});
  pipe.writer = {};
  EXPECT_EQ(finish(pid, std::chrono::seconds(20)), 0);
  char byte = 0;
  EXPECT_EQ(::read(pipe.reader.get(), &byte, 1), 0);
}

TEST_P(Life, NoZombieIsLeftToTheParent) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  EXPECT_EQ(person_.sh("(sleep 0.01 &); sleep 60 & exit 0").exit_code, 0);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a process came to the parent of harn";
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

INSTANTIATE_TEST_SUITE_P(As, Life, testing::ValuesIn(everybody()), testing::PrintToStringParamName());

}  // namespace
}  // namespace harn::test

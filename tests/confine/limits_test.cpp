// SPDX-License-Identifier: Apache-2.0
// Limits count the whole tree, for root and for an ordinary user, with a view and without one. Each
// case runs once without its limit and must succeed, then with it.
#include <sys/utsname.h>

#include <cstdio>

#include <gtest/gtest.h>

#include "confine/limits_stand.h"

namespace harn::test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr int killed = -9;
constexpr int cpu_signal = -24;
constexpr int file_size_signal = -25;

class Limits : public testing::TestWithParam<Stand> {
 protected:
  void SetUp() override {
    if (const auto reason = why_not(GetParam()); !reason.empty()) GTEST_SKIP() << reason;
  }
};

INSTANTIATE_TEST_SUITE_P(Stands, Limits, testing::ValuesIn(stands()),
                         [](const testing::TestParamInfo<Stand>& param) { return param.param.name; });

struct Shape {
  Words words = {};
  bool needs_view = false;   // a private /dev/shm or /tmp, or System V memory
  bool needs_group = false;  // no counter of a process shows it, so only a cgroup does
};

// 120 MiB under a limit of 48 MiB, held until somebody comes.
std::vector<Shape> shapes(const std::string& hold) {
  return {{{"heap", "120", hold}},
          {{"ten", "120", hold}},
          {{"shared", "120", hold}},
          {{"memfd", "120", hold}},
          {{"mapped", "120", hold}},
          {{"dropped", "120", hold}, false, true},
          {{"closed", "120", hold}, false, true},
          {{"flight", "120", hold}, false, true},
          {{"threaded", "120", hold}},
          {{"file", "120", hold, "/dev/shm/hog"}, true},
          {{"file", "120", hold, "/tmp/hog"}, true},
          {{"segment", "120", hold}, true},
          {{"detached", "120", hold}, true}};
}

TEST_P(Limits, MemoryEndsTheTreeWhateverItsShape) {
  const LimitScene scene(GetParam());
  for (const auto& [words, needs_view, needs_group] : shapes("0")) {
    if ((needs_view && !GetParam().view) || (needs_group && !GetParam().root)) continue;
    const auto free = scene.run({}, words);
    EXPECT_EQ(free.number("exit_code"), 0) << words[0] << free.text;
    EXPECT_EQ(free.output(), "done\n") << words[0];
  }
  for (const auto& [words, needs_view, needs_group] : shapes("120")) {
    if ((needs_view && !GetParam().view) || (needs_group && !GetParam().root)) continue;
    const auto limited = scene.run({"--memory", "48M"}, words);
    EXPECT_EQ(limited.number("exit_code"), killed) << words[0] << limited.text;
    EXPECT_EQ(limited.exit_code, 137) << words[0];
    EXPECT_TRUE(limited.flag("oom_killed")) << words[0];
    EXPECT_FALSE(limited.flag("timed_out")) << words[0];
    EXPECT_EQ(limited.output(), "") << words[0];
  }
}

TEST_P(Limits, MemoryWithinTheLimitIsLeftAlone) {
  const LimitScene scene(GetParam());
  for (const auto& words : {Words{"heap", "40", "1"}, Words{"ten", "40", "1"}, Words{"mapped", "40", "1"}}) {
    const auto run = scene.run({"--memory", "80M"}, words);
    EXPECT_EQ(run.number("exit_code"), 0) << words[0] << run.text;
    EXPECT_FALSE(run.flag("oom_killed")) << words[0];
    EXPECT_GT(run.usage("max_memory_bytes"), 3 << 20) << words[0];
  }
}

// What a tree could hold is not what it holds.
TEST_P(Limits, RoomForMoreMemoryIsNotMemory) {
  const LimitScene scene(GetParam());
  const auto run = scene.run({"--memory", "80M"}, {"sparse", "400", "2"});
  EXPECT_EQ(run.number("exit_code"), 0) << run.text;
  EXPECT_FALSE(run.flag("oom_killed"));
}

// Before that the kernel counts a user's processes everywhere, and the limit would count strangers.
bool counts_per_namespace() {
  utsname system = {};
  int major = 0;
  int minor = 0;
  ::uname(&system);
  return std::sscanf(system.release, "%d.%d", &major, &minor) == 2 && (major > 5 || (major == 5 && minor >= 14));
}

TEST_P(Limits, ProcessesAreRefusedPastTheirNumber) {
  const LimitScene scene(GetParam());
  EXPECT_EQ(scene.run({}, {"forks", "30"}).output(), "made 30\ndone\n");
  // Nothing there can refuse a fork: sampling sees too many and ends the tree.
  if (!GetParam().root && (!GetParam().view || !counts_per_namespace())) {
    const auto ended = scene.run({"--procs", "16"}, {"forks", "30", "120"});
    EXPECT_EQ(ended.number("exit_code"), killed) << ended.text;
    EXPECT_TRUE(ended.flag("processes_exceeded"));
    return;
  }
  const auto limited = scene.run({"--procs", "16"}, {"forks", "30"});
  EXPECT_EQ(limited.number("exit_code"), 0) << limited.text;
  EXPECT_EQ(limited.output(), "made 15 until EAGAIN\ndone\n");
  EXPECT_EQ(limited.flag("processes_exceeded"), GetParam().root) << "a cgroup tells what it refused, an rlimit does not";
}

// The hog and harn together may not need more than this, whatever harn does.
class OuterGroup {
 public:
  OuterGroup() {
    const auto places = sys_pids();
    if (places.empty()) return;
    directory_ = places + "/harn-test-" + std::to_string(::getpid());
    fs::create_directory(directory_);
    std::ofstream(directory_ + "/pids.max") << 200;
  }
  OuterGroup(const OuterGroup&) = delete;
  OuterGroup& operator=(const OuterGroup&) = delete;
  ~OuterGroup() {
    std::error_code ignored;
    if (!directory_.empty()) fs::remove(directory_, ignored);
  }
  bool usable() const { return !directory_.empty(); }
  std::string procs_file() const { return directory_ + "/cgroup.procs"; }
  int peak() const {
    int number = -1;
    std::ifstream(directory_ + "/pids.peak") >> number;
    return number;
  }

 private:
  static std::string sys_pids() { return fs::exists("/sys/fs/cgroup/pids/cgroup.procs") && ::geteuid() == 0 ? "/sys/fs/cgroup/pids" : ""; }
  std::string directory_ = {};
};

TEST_P(Limits, AForkBombStaysSmallAndEnds) {
  const OuterGroup outer;
  if (!outer.usable()) GTEST_SKIP() << "an outer pids cgroup takes root and cgroup version 1; without it a failure would hurt the machine";
  LimitScene scene(GetParam());
  scene.set_outer_group(outer.procs_file());
  const auto run = scene.run({"--procs", "16", "--timeout", "1s"}, {"bomb"});
  EXPECT_TRUE(run.flag("timed_out") || run.flag("processes_exceeded")) << run.text;
  if (!GetParam().root && !GetParam().view) return;  // sampled: the outer group had to hold
  EXPECT_LE(outer.peak(), 16 + 4) << "16 of the command; harn, its init and the two on the way to them";
}

TEST_P(Limits, ProcessorTimeEndsASingleProcessByItsSignal) {
  const LimitScene scene(GetParam());
  EXPECT_EQ(scene.run({}, {"spin", "0", "1.2"}).number("exit_code"), 0);
  const auto limited = scene.run({"--cpu-seconds", "1"}, {"spin", "0", "30"});
  EXPECT_EQ(limited.number("exit_code"), cpu_signal) << limited.text;
  EXPECT_TRUE(limited.flag("cpu_exceeded"));
  EXPECT_TRUE(limited.flag("timed_out"));
  EXPECT_EQ(limited.exit_code, 128 + 24);
}

TEST_P(Limits, ProcessorTimeOfAllWorkersTogetherIsLimited) {
  const LimitScene scene(GetParam());
  EXPECT_EQ(scene.run({}, {"spin", "4", "0.6"}).output(), "done\n");
  // No single worker reaches its own limit.
  const auto limited = scene.run({"--cpu-seconds", "1"}, {"spin", "4", "0.6"});
  EXPECT_EQ(limited.number("exit_code"), cpu_signal) << limited.text;
  EXPECT_TRUE(limited.flag("cpu_exceeded"));
  EXPECT_TRUE(limited.flag("timed_out"));
}

TEST_P(Limits, NobodyOutlivesTheCommand) {
  const LimitScene scene(GetParam());
  EXPECT_EQ(scene.bare({"linger", "1"}).exit_code, 0);
  EXPECT_EQ(scene.survivors().size(), 3u) << "unconfined, all three stay";
  scene.end_survivors();
  for (const auto& flags : {Words{}, Words{"--memory", "64M"}}) {
    const auto run = scene.run(flags, {"linger", "1"});
    EXPECT_EQ(run.number("exit_code"), 0) << run.text;
    EXPECT_EQ(run.number("killed_processes"), 3) << run.text;
  }
}

// Each of their processes is gone before anybody can name it.
TEST_P(Limits, NobodyHopsAway) {
  const LimitScene scene(GetParam());
  const auto ended = scene.run({}, {"hop", "3", "0"});
  EXPECT_EQ(ended.number("exit_code"), 0) << ended.text;
  EXPECT_EQ(ended.exit_code, 0);
  const auto stopped = scene.run({"--timeout", "1s"}, {"hop", "3", "60"});
  EXPECT_TRUE(stopped.flag("timed_out")) << stopped.text;
  EXPECT_EQ(stopped.exit_code, 124);
  EXPECT_LT(stopped.usage("wall_ms"), 5000);
}

TEST_P(Limits, OrphansAreReapedWhileTheCommandRuns) {
  const OuterGroup outer;
  if (!outer.usable()) GTEST_SKIP() << "counting them takes root and cgroup version 1";
  LimitScene scene(GetParam());
  scene.set_outer_group(outer.procs_file());
  const auto run = scene.run({}, {"hop", "1", "2"});
  EXPECT_EQ(run.output(), "done\n") << "the ended ones fill the list of processes";
}

TEST_P(Limits, WallTimeEndsWhatIgnoresSignalsHidesOrStops) {
  const LimitScene scene(GetParam());
  for (const auto& flags : {Words{"--timeout", "1s"}, Words{"--timeout", "1s", "--procs", "16"}}) {
    const auto run = scene.run(flags, {"linger", "0"});
    EXPECT_TRUE(run.flag("timed_out")) << run.text;
    EXPECT_EQ(run.exit_code, 124);
    EXPECT_EQ(run.output(), "lingering\n") << "what was said before is kept";
  }
}

TEST_P(Limits, OutputIsCutAndTheCommandGoesOn) {
  const LimitScene scene(GetParam());
  const Words words{"file", "4", "0", "/dev/stdout"};
  EXPECT_EQ(scene.run({}, words).output().size(), (4u << 20) + 5);
  const auto limited = scene.run({"--output-limit", "1M"}, words);
  EXPECT_TRUE(limited.flag("output_truncated"));
  EXPECT_EQ(limited.number("exit_code"), 0) << "it wrote everything and ended by itself";
  EXPECT_EQ(limited.output().size(), 1u << 20);
}

TEST_P(Limits, AFileStopsGrowingAtItsLimit) {
  const LimitScene scene(GetParam());
  const Words words{"file", "3", "0", scene.work("big").text()};
  EXPECT_EQ(scene.run({}, words).output(), "done\n");
  EXPECT_EQ(fs::file_size(scene.work("big").text()), 3u << 20);
  const auto limited = scene.run({"--file-size", "1M"}, words);
  EXPECT_EQ(limited.number("exit_code"), file_size_signal) << limited.text;
  EXPECT_TRUE(limited.flag("file_size_exceeded"));
  EXPECT_EQ(limited.exit_code, 128 + 25);
  EXPECT_EQ(fs::file_size(scene.work("big").text()), 1u << 20);
}

}  // namespace
}  // namespace harn::test

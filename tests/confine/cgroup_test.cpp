// SPDX-License-Identifier: Apache-2.0
// Cgroups of runs on a real kernel: made, joined, counted, emptied, removed, and swept after their
// owner is gone. Version 2 here has no controllers, but its core files are the real ones.
#include "run/cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "run/cgroup_members.h"
#include "run/run_id.h"

namespace harn::run {
namespace {

namespace fs = std::filesystem;

sys::CgroupPlaces real_v2() {
  for (const auto* root : {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"})
    if (fs::exists(std::string(root) + "/cgroup.subtree_control") && ::access(root, W_OK) == 0)
      return {CgroupKind::v2, {{"", AbsPath::of(root)}}};
  return {};
}

const AbsPath& some_parent(const sys::CgroupPlaces& places) { return places.directories.at(places.kind == CgroupKind::v2 ? "" : "pids"); }

struct Case {
  sys::CgroupPlaces places = {};
  std::map<std::string, std::string> values = {};
};

std::vector<Case> cases() {
  std::vector<Case> out;
  if (auto v2 = real_v2(); v2.kind == CgroupKind::v2) out.push_back({v2, {{"cgroup.max.descendants", "0"}}});
  if (auto v1 = sys::find_cgroup_places(); v1.kind == CgroupKind::v1)
    out.push_back({v1, {{"cpuacct.usage", "0"}, {"memory.limit_in_bytes", "67108864"}, {"pids.max", "16"}}});
  return out;
}

// A process in the group that sleeps, and one that it started.
pid_t start_member(const Cgroup& cgroup) {
  int ready[2] = {};
  EXPECT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    for (const auto& file : cgroup.join_files()) std::ofstream(file) << 0;
    const bool parent = ::fork() != 0;
    if (parent && ::write(ready[1], "x", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char byte = 0;
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  ::close(ready[0]);
  ::close(ready[1]);
  return child;
}

std::vector<std::string> directories(const Cgroup& cgroup) {
  std::vector<std::string> out;
  for (const auto& [controller, directory] : cgroup.files().directories) out.push_back(directory.text());
  return out;
}

TEST(Cgroup, EverybodyInItEndsAndItIsGone) {
  const auto all = cases();
  if (all.empty()) GTEST_SKIP() << "no cgroup hierarchy is writable";
  for (const auto& [places, values] : all) {
    std::vector<std::string> made;
    pid_t member = -1;
    {
      auto cgroup = Cgroup::make(places, {.run_id = make_run_id(), .values = values});
      ASSERT_TRUE(cgroup) << cgroup.error().message;
      made = directories(*cgroup);
      for (const auto& directory : made) EXPECT_TRUE(fs::exists(directory));
      member = start_member(*cgroup);
      EXPECT_EQ(cgroup->files().oom_kills(), 0u);
      if (places.kind == CgroupKind::v1) {
        EXPECT_GE(cgroup->files().processes_peak(), 2u);
      }
    }
    int status = 0;
    ASSERT_EQ(::waitpid(member, &status, 0), member);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    for (const auto& directory : made) EXPECT_FALSE(fs::exists(directory)) << directory;
  }
}

TEST(Cgroup, ASweepRemovesDeadRunsAndNothingElse) {
  const auto all = cases();
  if (all.empty()) GTEST_SKIP() << "no cgroup hierarchy is writable";
  for (const auto& [places, values] : all) {
    const auto& parent = some_parent(places);
    const auto dead = parent.join(cgroup_name(make_run_id()));
    const auto stranger = parent.join("harn-run-by-somebody-else");
    fs::create_directory(dead.text());
    fs::create_directory(stranger.text());
    {
      auto living = Cgroup::make(places, {.run_id = make_run_id(), .values = values});
      ASSERT_TRUE(living) << living.error().message;
      EXPECT_FALSE(fs::exists(dead.text()));
      const pid_t member = start_member(*living);
      sweep_dead_runs(parent);
      EXPECT_TRUE(fs::exists(directories(*living).front()));
      EXPECT_EQ(::waitpid(member, nullptr, WNOHANG), 0) << "its members live";
      living->kill_all();
      EXPECT_EQ(::waitpid(member, nullptr, 0), member);
    }
    EXPECT_TRUE(fs::exists(stranger.text())) << "not the name of a run";
    fs::remove(stranger.text());
  }
}

TEST(Cgroup, AnOwnerThatDiedIsNoticedByItsLock) {
  const auto all = cases();
  if (all.empty()) GTEST_SKIP() << "no cgroup hierarchy is writable";
  for (const auto& [places, values] : all) {
    const auto id = make_run_id();
    int made[2] = {};
    ASSERT_EQ(::pipe(made), 0);
    const pid_t owner = ::fork();
    if (owner == 0) {
      auto cgroup = Cgroup::make(places, {.run_id = id, .values = values});
      const char answer = cgroup ? 'y' : 'n';
      if (::write(made[1], &answer, 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    char answer = 0;
    EXPECT_EQ(::read(made[0], &answer, 1), 1);
    ::close(made[0]);
    ::close(made[1]);
    EXPECT_EQ(answer, 'y');
    const auto directory = some_parent(places).join(cgroup_name(id)).text();
    EXPECT_TRUE(fs::exists(directory));
    ::kill(owner, SIGKILL);
    ::waitpid(owner, nullptr, 0);
    EXPECT_TRUE(fs::exists(directory)) << "nobody could remove it";
    for (const auto& [controller, parent] : places.directories) sweep_dead_runs(parent);
    EXPECT_FALSE(fs::exists(directory));
  }
}

TEST(Cgroup, AValueTheKernelRefusesIsAnErrorAndLeavesNothing) {
  const auto places = sys::find_cgroup_places();
  if (places.kind != CgroupKind::v1) GTEST_SKIP() << "no usable cgroup version 1";
  const auto id = make_run_id();
  const auto refused = Cgroup::make(places, {.run_id = id, .values = {{"pids.max", "many"}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().os_error, EINVAL);
  EXPECT_NE(refused.error().message.find("pids.max"), std::string::npos) << refused.error().message;
  EXPECT_FALSE(fs::exists(places.directories.at("pids").join(cgroup_name(id)).text()));
}

}  // namespace
}  // namespace harn::run

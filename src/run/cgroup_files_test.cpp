// SPDX-License-Identifier: Apache-2.0
// Names and values of both versions, on plain files; tests/confine has the real ones.
#include "run/cgroup_files.h"

#include <gtest/gtest.h>

#include "run/cgroup.h"
#include "run/run_id.h"
#include "support/temp_dir.h"

namespace harn::run {
namespace {

using test::TempDir;

std::string text_of(const AbsPath& file) {
  std::ifstream in(file.text());
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(CgroupFiles, VersionTwoKeepsEverythingInOneDirectory) {
  const TempDir temp;
  const CgroupFiles files{CgroupKind::v2, {{"", temp.path()}}};
  const std::map<std::string, std::string> values{{"cgroup.max.descendants", "0"}, {"cpu.max", "150000 100000"},
                                                  {"memory.max", "536870912"},     {"memory.oom.group", "1"},
                                                  {"memory.swap.max", "0"},        {"pids.max", "64"}};
  for (const auto& [name, value] : values) temp.file(name);
  ASSERT_TRUE(files.write(values));
  for (const auto& [name, value] : values) EXPECT_EQ(text_of(temp.path(name)), value) << name;

  temp.file("memory.events", "low 0\nhigh 0\nmax 17\noom 3\noom_kill 2\noom_group_kill 1\n");
  temp.file("memory.peak", "4096000\n");
  temp.file("cpu.stat", "usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\n");
  temp.file("pids.peak", "12\n");
  temp.file("pids.events", "max 5\n");
  EXPECT_EQ(files.oom_kills(), 2u);
  EXPECT_EQ(files.memory_peak_bytes(), 4096000u);
  EXPECT_EQ(files.cpu_us(), 2500000u);
  EXPECT_EQ(files.processes_peak(), 12u);
  EXPECT_EQ(files.refused_forks(), 5u);
}

TEST(CgroupFiles, VersionOneHasADirectoryPerController) {
  const TempDir temp;
  const CgroupFiles files{CgroupKind::v1,
                          {{"cpu", temp.directory("cpu")},
                           {"cpuacct", temp.directory("cpuacct")},
                           {"memory", temp.directory("memory")},
                           {"pids", temp.directory("pids")}}};
  temp.file("cpu/cpu.cfs_quota_us");
  temp.file("cpuacct/cpuacct.usage");
  temp.file("memory/memory.limit_in_bytes");
  temp.file("pids/pids.max");
  ASSERT_TRUE(files.write({{"cpu.cfs_quota_us", "150000"},
                           {"cpuacct.usage", "0"},
                           {"memory.limit_in_bytes", "536870912"},
                           {"memory.memsw.limit_in_bytes", "536870912"},
                           {"pids.max", "64"}}))
      << "swap accounting may be off";
  EXPECT_EQ(text_of(temp.path("cpu/cpu.cfs_quota_us")), "150000");
  EXPECT_EQ(text_of(temp.path("memory/memory.limit_in_bytes")), "536870912");
  EXPECT_EQ(text_of(temp.path("pids/pids.max")), "64");

  temp.file("memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
  temp.file("memory/memory.max_usage_in_bytes", "8192\n");
  temp.file("cpuacct/cpuacct.usage", "2500000000\n");
  EXPECT_EQ(files.oom_kills(), 1u);
  EXPECT_EQ(files.memory_peak_bytes(), 8192u);
  EXPECT_EQ(files.cpu_us(), 2500000u);
}

TEST(CgroupFiles, WhatNobodyCountsIsZero) {
  const TempDir temp;
  for (const auto& files : {CgroupFiles{CgroupKind::v2, {{"", temp.path()}}}, CgroupFiles{CgroupKind::v1, {{"pids", temp.path()}}}}) {
    EXPECT_EQ(files.oom_kills(), 0u);
    EXPECT_EQ(files.cpu_us(), 0u);
    EXPECT_EQ(files.memory_peak_bytes(), 0u);
    EXPECT_EQ(files.processes_peak(), 0u);
    EXPECT_EQ(files.refused_forks(), 0u);
  }
}

TEST(CgroupFiles, OnlySwapMayBeMissing) {
  const TempDir temp;
  const CgroupFiles v2{CgroupKind::v2, {{"", temp.path()}}};
  const CgroupFiles v1{CgroupKind::v1, {{"memory", temp.path()}}};
  EXPECT_TRUE(v2.write({{"memory.swap.max", "0"}}));
  EXPECT_TRUE(v1.write({{"memory.memsw.limit_in_bytes", "1"}}));
  for (const auto* name : {"memory.max", "memory.oom.group", "pids.max", "cpu.max", "cgroup.max.descendants"}) {
    const auto missing = v2.write({{name, "1"}});
    ASSERT_FALSE(missing) << name;
    EXPECT_NE(missing.error().message.find(name), std::string::npos) << missing.error().message;
  }
  EXPECT_FALSE(v1.write({{"memory.limit_in_bytes", "1"}}));
  EXPECT_FALSE(v1.write({{"cpu.cfs_quota_us", "1"}})) << "a controller this run has no group of";
}

TEST(CgroupFiles, ControllersAreHandedDownBeforeAGroupNeedsThem) {
  const TempDir temp;
  temp.file("cgroup.subtree_control", "pids\n");
  const auto id = make_run_id();
  const auto made = Cgroup::make({CgroupKind::v2, {{"", temp.path()}}}, {.run_id = id, .values = {{"memory.max", "1"}, {"pids.max", "2"}}});
  ASSERT_FALSE(made) << "plain files make no memory.max";
  EXPECT_NE(made.error().message.find("memory.max"), std::string::npos) << made.error().message;
  EXPECT_EQ(text_of(temp.path("cgroup.subtree_control")), "+memory") << "only what was missing is written";
  EXPECT_FALSE(std::filesystem::exists(temp.path("harn-" + id).text()));
}

}  // namespace
}  // namespace harn::run

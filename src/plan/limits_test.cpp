// SPDX-License-Identifier: Apache-2.0
#include "plan/limits.h"

#include <gtest/gtest.h>

namespace harn::plan {
namespace {

Policy every_limit() {
  Policy policy;
  policy.limits = {.max_memory_mb = 512,
                   .max_cpu_seconds = 30,
                   .max_processes = 64,
                   .max_file_size_mb = 100,
                   .max_output_bytes = 1000,
                   .max_open_files = 256,
                   .cpu_milli = 1500,
                   .wall_time = std::chrono::seconds(30),
                   .idle_timeout = std::chrono::seconds(5)};
  return policy;
}

Plan lowered(const Policy& policy, CgroupKind cgroup, Platform platform = Platform::linux) {
  HostFacts facts;
  facts.platform = platform;
  facts.linux.cgroup = cgroup;
  Plan plan;
  lower_posix_limits(policy, facts, plan);
  return plan;
}

TEST(Limits, CgroupV2CountsTheTree) {
  const auto plan = lowered(every_limit(), CgroupKind::v2);
  EXPECT_EQ(plan.limits.cgroup, (std::map<std::string, std::string>{{"cgroup.max.descendants", "0"},
                                                                    {"cpu.max", "150000 100000"},
                                                                    {"memory.max", "536870912"},
                                                                    {"memory.oom.group", "1"},
                                                                    {"memory.swap.max", "0"},
                                                                    {"pids.max", "64"}}));
  EXPECT_EQ(plan.limits.rlimits,
            (std::vector<ResourceLimit>{{"cpu", 30, 31}, {"fsize", 104857600, 104857600}, {"nofile", 256, 256}, {"core", 1, 1}}));
  EXPECT_EQ(plan.limits.watched, (std::map<std::string, std::uint64_t>{{"cpu_seconds", 30}}));
  EXPECT_EQ(plan.limits.wall_time_ms, 30000u);
  EXPECT_EQ(plan.limits.idle_timeout_ms, 5000u);
  EXPECT_EQ(plan.limits.max_output_bytes, 1000u);
  for (const auto dimension : {Dimension::memory, Dimension::cpu, Dimension::processes, Dimension::file_size, Dimension::wall_time})
    EXPECT_EQ(plan.coverage[dimension].status, Enforcement::enforced);
}

TEST(Limits, CgroupV1HasItsOwnNames) {
  EXPECT_EQ(lowered(every_limit(), CgroupKind::v1).limits.cgroup,
            (std::map<std::string, std::string>{{"cpu.cfs_quota_us", "150000"},
                                                {"cpuacct.usage", "0"},
                                                {"memory.limit_in_bytes", "536870912"},
                                                {"memory.memsw.limit_in_bytes", "536870912"},
                                                {"pids.max", "64"}}));
}

TEST(Limits, WithoutACgroupSamplingIsCalledWhatItIs) {
  for (const auto platform : {Platform::linux, Platform::macos, Platform::openbsd}) {
    const auto plan = lowered(every_limit(), platform == Platform::linux ? CgroupKind::none : CgroupKind::v2, platform);
    EXPECT_TRUE(plan.limits.cgroup.empty());
    EXPECT_EQ(plan.limits.watched,
              (std::map<std::string, std::uint64_t>{{"cpu_seconds", 30}, {"memory_bytes", 512u << 20}, {"processes", 64}}));
    for (const auto dimension : {Dimension::memory, Dimension::processes}) {
      EXPECT_EQ(plan.coverage[dimension].status, Enforcement::degraded);
      EXPECT_EQ(plan.coverage[dimension].layers, std::vector<std::string>{"supervisor"});
    }
    for (const auto& gap : plan.coverage.gaps) EXPECT_EQ(gap.remedy.empty(), platform != Platform::linux) << gap.code;
    EXPECT_EQ(plan.coverage[Dimension::cpu].status, Enforcement::not_enforced) << "cpu_count cannot be sampled";
  }
}

TEST(Limits, ProcessorTimeAloneStillGetsAGroupThatCountsIt) {
  Policy policy;
  policy.limits.max_cpu_seconds = 2;
  using Files = std::map<std::string, std::string>;
  EXPECT_EQ(lowered(policy, CgroupKind::v1).limits.cgroup, (Files{{"cpuacct.usage", "0"}}));
  EXPECT_EQ(lowered(policy, CgroupKind::v2).limits.cgroup, (Files{{"cgroup.max.descendants", "0"}}));
  EXPECT_EQ(lowered(policy, CgroupKind::v2).coverage[Dimension::cpu], (DimensionCoverage{Enforcement::enforced, {"limits", "cgroup"}, {}}));
  const auto sampled = lowered(policy, CgroupKind::none);
  EXPECT_EQ(sampled.coverage[Dimension::cpu].status, Enforcement::degraded);
  EXPECT_EQ(sampled.coverage[Dimension::cpu].layers, (std::vector<std::string>{"limits", "supervisor"}));
}

TEST(Limits, AViewCountsItsOwnProcessesForOrdinaryUsers) {
  Policy policy;
  policy.limits.max_processes = 16;
  HostFacts facts;
  facts.uid = 1000;
  facts.linux.kernel = "5.14.0-1-amd64";
  Plan plan;
  plan.confinement = LinuxConfinement{.view = View{.namespaces = {"user", "mount", "pid"}}};
  const auto with = [&](const HostFacts& host, const Plan& start) {
    Plan out = start;
    lower_posix_limits(policy, host, out);
    return out;
  };
  const auto exact = with(facts, plan);
  EXPECT_EQ(exact.limits, (LimitPlan{.rlimits = {{"nproc", 17, 17}, {"core", 1, 1}}}));
  EXPECT_EQ(exact.coverage[Dimension::processes], (DimensionCoverage{Enforcement::enforced, {"limits"}, {}}));

  const LimitPlan sampled{.rlimits = {{"core", 1, 1}}, .watched = {{"processes", 16}}};
  auto other = facts;
  other.uid = 0;
  EXPECT_EQ(with(other, plan).limits, sampled) << "root is exempt";
  for (const auto* kernel : {"5.13.19", "4.19", "5", "", "unknown"}) {
    other = facts;
    other.linux.kernel = kernel;
    EXPECT_EQ(with(other, plan).limits, sampled) << kernel;
  }
  EXPECT_EQ(with(facts, Plan{}).limits, sampled) << "without a view the user's other processes count too";
  other = facts;
  other.linux.kernel = "6.1";
  EXPECT_EQ(with(other, plan), exact);
  other.linux.cgroup = CgroupKind::v2;
  EXPECT_EQ(with(other, plan).limits.cgroup.at("pids.max"), "16") << "a cgroup counts better still";
}

TEST(Limits, AWrappersOwnProcessesAreNotTheCommands) {
  Policy policy;
  policy.limits.max_processes = 16;
  HostFacts facts;
  facts.linux.cgroup = CgroupKind::v1;
  for (const auto& [backend, most] : {std::pair(Backend::linux, "16"), {Backend::bubblewrap, "18"}, {Backend::firejail, "18"}}) {
    Plan plan;
    plan.backend = backend;
    lower_posix_limits(policy, facts, plan);
    EXPECT_EQ(plan.limits.cgroup.at("pids.max"), most);
  }
}

TEST(Limits, MemoryIsNeverLimitedByAddressSpace) {
  for (const auto cgroup : {CgroupKind::none, CgroupKind::v1, CgroupKind::v2})
    for (const auto& limit : lowered(every_limit(), cgroup).limits.rlimits) EXPECT_NE(limit.name, "as");
}

TEST(Limits, NoLimitsOnlyTurnCoreDumpsOff) {
  const auto plan = lowered(Policy{}, CgroupKind::v2);
  EXPECT_EQ(plan.limits, (LimitPlan{.rlimits = {{"core", 1, 1}}}));
  EXPECT_EQ(plan.coverage, Coverage{});
}

}  // namespace
}  // namespace harn::plan

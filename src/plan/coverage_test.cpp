// SPDX-License-Identifier: Apache-2.0
#include "plan/coverage.h"

#include <gtest/gtest.h>

namespace harn::plan {
namespace {

TEST(Coverage, SeveralLayersMayEnforceOneDimension) {
  Coverage coverage;
  enforced_by(coverage, Dimension::reads, "view");
  enforced_by(coverage, Dimension::reads, "landlock");
  enforced_by(coverage, Dimension::reads, "view");
  EXPECT_EQ(coverage[Dimension::reads], (DimensionCoverage{Enforcement::enforced, {"view", "landlock"}, ""}));
}

TEST(Coverage, AGapIsNeverPaintedOver) {
  Coverage coverage;
  open_gap(coverage, {.dimension = Dimension::writes, .code = "x", .detail = "first"}, Enforcement::degraded);
  open_gap(coverage, {.dimension = Dimension::writes, .code = "y", .detail = "second"}, Enforcement::not_enforced);
  open_gap(coverage, {.dimension = Dimension::writes, .code = "y", .detail = "second"}, Enforcement::degraded);
  enforced_by(coverage, Dimension::writes, "view");
  EXPECT_EQ(coverage[Dimension::writes], (DimensionCoverage{Enforcement::not_enforced, {"view"}, "first; second"}));
}

TEST(Coverage, SettleDropsWhatNobodyAskedForAndNamesWhatNobodyClaimed) {
  Coverage coverage;
  open_gap(coverage, {.dimension = Dimension::memory, .code = "m", .detail = "d"}, Enforcement::not_enforced);
  enforced_by(coverage, Dimension::reads, "view");
  settle(coverage, Policy{});
  EXPECT_EQ(coverage[Dimension::memory], DimensionCoverage{});
  EXPECT_TRUE(coverage.gaps.empty());
  EXPECT_EQ(coverage[Dimension::reads].status, Enforcement::enforced);
  EXPECT_EQ(coverage[Dimension::network].status, Enforcement::not_enforced);
  EXPECT_EQ(holes(coverage).size(), 9u);  // every always-requested dimension but reads
}

TEST(Coverage, ADimensionIsRequestedWhenThePolicyNamesIt) {
  Policy policy;
  for (const auto dimension : {Dimension::memory, Dimension::cpu, Dimension::processes, Dimension::file_size, Dimension::wall_time})
    EXPECT_FALSE(requested(policy, dimension));
  policy.limits = {.max_memory_mb = 1, .max_processes = 1, .max_file_size_mb = 1, .cpu_milli = 1, .wall_time = std::chrono::seconds(1)};
  for (const auto dimension : {Dimension::memory, Dimension::cpu, Dimension::processes, Dimension::file_size, Dimension::wall_time})
    EXPECT_TRUE(requested(policy, dimension));
  EXPECT_TRUE(requested(policy, Dimension::network));
  policy.network = Network{.mode = NetworkMode::unrestricted};
  EXPECT_FALSE(requested(policy, Dimension::network));
  policy.network->blocked_ports = {25};
  EXPECT_TRUE(requested(policy, Dimension::network));
}

}  // namespace
}  // namespace harn::plan

// SPDX-License-Identifier: Apache-2.0
#include "run/windows/job_limits.h"

#include <gtest/gtest.h>

namespace harn::run::windows {
namespace {

TEST(JobLimits, APlanBecomesTheNumbersOfWindows) {
  const AppContainer container{
      .job_limits = {{"active_process", 32}, {"cpu_rate_milli", 1500}, {"job_memory", 512u << 20}, {"job_user_time", 300'000'000}},
      .job_flags = {"die_on_unhandled_exception", "kill_on_job_close"},
      .ui_limits = {"desktop", "display_settings", "exit_windows", "global_atoms", "handles", "read_clipboard", "system_parameters",
                    "write_clipboard"}};
  const auto settings = job_settings(container, 4);
  ASSERT_TRUE(settings);
  EXPECT_EQ(
      *settings,
      (JobSettings{
          .limits = {.flags = 0x2000 | 0x400 | 0x200 | 0x8 | 0x4, .active_process = 32, .job_memory = 512u << 20, .user_time = 300'000'000},
          .ui = 0xFF,
          .cpu_rate = 3750}));
}

TEST(JobLimits, OnlyWhatIsPlannedIsLimited) {
  const auto settings = job_settings({.job_flags = {"kill_on_job_close"}}, 1);
  ASSERT_TRUE(settings);
  EXPECT_EQ(*settings, bare_job());
}

TEST(JobLimits, ProcessorsAreSharedOut) {
  const auto rate = [](std::uint64_t milli, unsigned processors) {
    return *job_settings({.job_limits = {{"cpu_rate_milli", milli}}}, processors)->cpu_rate;
  };
  EXPECT_EQ(rate(1000, 1), 10000u);
  EXPECT_EQ(rate(500, 2), 2500u);
  EXPECT_EQ(rate(9000, 2), 10000u) << "more than there is means all of it";
  EXPECT_EQ(rate(1, 64), 1u) << "never nothing, which would mean no limit";
}

TEST(JobLimits, WordsNobodyKnowsAreErrors) {
  EXPECT_FALSE(job_settings({.job_limits = {{"bandwidth", 1}}}, 1));
  EXPECT_FALSE(job_settings({.job_flags = {"breakaway_ok"}}, 1));
  EXPECT_FALSE(job_settings({.ui_limits = {"mouse"}}, 1));
  EXPECT_FALSE(job_settings({.job_limits = {{"active_process", 0}}}, 1));
  EXPECT_FALSE(job_settings({.job_limits = {{"active_process", std::uint64_t{1} << 40}}}, 1));
}

TEST(JobLimits, TellsWhatAJobDoesNotHave) {
  const JobLimits told{.flags = 0x2208, .active_process = 3, .job_memory = 100};
  EXPECT_EQ(limits_differ(told, told), "");
  EXPECT_EQ(limits_differ(told, {}), "its flags are 0x0 instead of 0x2208");
  auto answered = told;
  answered.flags |= 0x1000;
  EXPECT_NE(limits_differ(told, answered), "");
  answered = told;
  answered.active_process = 4;
  EXPECT_EQ(limits_differ(told, answered), "its number of processes is 4 instead of 3");
  answered = told;
  answered.process_memory = 9;
  EXPECT_EQ(limits_differ(told, answered), "") << "it was not asked for";
}

}  // namespace
}  // namespace harn::run::windows

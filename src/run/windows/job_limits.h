// SPDX-License-Identifier: Apache-2.0
// What the job object of a run is told, in the numbers Windows uses, and whether what it answers afterwards is the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harn/plan.h"

namespace harn::run::windows {

// JOB_OBJECT_LIMIT_* and JOB_OBJECT_UILIMIT_*; os/real_job.cpp asserts that they are.
namespace job {
inline constexpr std::uint32_t user_time = 0x4;
inline constexpr std::uint32_t active_process = 0x8;
inline constexpr std::uint32_t process_memory = 0x100;
inline constexpr std::uint32_t job_memory = 0x200;
inline constexpr std::uint32_t die_on_unhandled_exception = 0x400;
inline constexpr std::uint32_t kill_on_job_close = 0x2000;
inline constexpr std::uint32_t ui_handles = 0x1;
inline constexpr std::uint32_t ui_read_clipboard = 0x2;
inline constexpr std::uint32_t ui_write_clipboard = 0x4;
inline constexpr std::uint32_t ui_system_parameters = 0x8;
inline constexpr std::uint32_t ui_display_settings = 0x10;
inline constexpr std::uint32_t ui_global_atoms = 0x20;
inline constexpr std::uint32_t ui_desktop = 0x40;
inline constexpr std::uint32_t ui_exit_windows = 0x80;
}  // namespace job

struct JobLimits {
  std::uint32_t flags = 0;
  std::uint32_t active_process = 0;
  std::uint64_t process_memory = 0;
  std::uint64_t job_memory = 0;
  std::uint64_t user_time = 0;  // in units of 100 ns

  bool operator==(const JobLimits&) const = default;
};

struct JobSettings {
  JobLimits limits = {};
  std::uint32_t ui = 0;
  std::optional<std::uint32_t> cpu_rate = {};  // hundredths of a percent of all processors

  bool operator==(const JobSettings&) const = default;
};

// An error where the plan names something this applier does not know: it would silently not hold.
Result<JobSettings> job_settings(const AppContainer& container, unsigned processors);

// A run without confinement still ends with its job.
JobSettings bare_job();

// Why what the job answers is not what it was told; empty when it is. Flags nobody asked for count too: one of them lets
// processes leave the job.
std::string limits_differ(const JobLimits& told, const JobLimits& answered);

}  // namespace harn::run::windows

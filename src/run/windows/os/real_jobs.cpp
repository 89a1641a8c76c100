// SPDX-License-Identifier: Apache-2.0
// Job objects: set, and read again.
#include <windows.h>

#include "run/windows/os/native.h"
#include "run/windows/os/real_calls.h"

namespace harn::run::windows {
namespace {

static_assert(job::user_time == JOB_OBJECT_LIMIT_JOB_TIME);
static_assert(job::active_process == JOB_OBJECT_LIMIT_ACTIVE_PROCESS);
static_assert(job::process_memory == JOB_OBJECT_LIMIT_PROCESS_MEMORY);
static_assert(job::job_memory == JOB_OBJECT_LIMIT_JOB_MEMORY);
static_assert(job::die_on_unhandled_exception == JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION);
static_assert(job::kill_on_job_close == JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE);
static_assert(job::ui_handles == JOB_OBJECT_UILIMIT_HANDLES);
static_assert(job::ui_read_clipboard == JOB_OBJECT_UILIMIT_READCLIPBOARD);
static_assert(job::ui_write_clipboard == JOB_OBJECT_UILIMIT_WRITECLIPBOARD);
static_assert(job::ui_system_parameters == JOB_OBJECT_UILIMIT_SYSTEMPARAMETERS);
static_assert(job::ui_display_settings == JOB_OBJECT_UILIMIT_DISPLAYSETTINGS);
static_assert(job::ui_global_atoms == JOB_OBJECT_UILIMIT_GLOBALATOMS);
static_assert(job::ui_desktop == JOB_OBJECT_UILIMIT_DESKTOP);
static_assert(job::ui_exit_windows == JOB_OBJECT_UILIMIT_EXITWINDOWS);

template <class Facts>
Status set(Handle job, JOBOBJECTINFOCLASS kind, Facts& facts, std::string_view what) {
  if (::SetInformationJobObject(native(job), kind, &facts, sizeof facts) != 0) return {};
  return call_failed("SetInformationJobObject", what);
}

template <class Facts>
Result<Facts> query(Handle job, JOBOBJECTINFOCLASS kind, std::string_view what) {
  Facts facts = {};
  if (::QueryInformationJobObject(native(job), kind, &facts, sizeof facts, nullptr) != 0) return facts;
  return call_failed("QueryInformationJobObject", what);
}

Result<Handle> create_job() {
  // Without a name: nobody else can open it.
  HANDLE made = ::CreateJobObjectW(nullptr, nullptr);
  if (made == nullptr) return call_failed("CreateJobObjectW");
  return neutral(made);
}

Status limit_job(Handle job, const JobLimits& limits) {
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION facts = {};
  facts.BasicLimitInformation.LimitFlags = limits.flags;
  facts.BasicLimitInformation.ActiveProcessLimit = limits.active_process;
  facts.BasicLimitInformation.PerJobUserTimeLimit.QuadPart = static_cast<LONGLONG>(limits.user_time);
  facts.ProcessMemoryLimit = limits.process_memory;
  facts.JobMemoryLimit = limits.job_memory;
  return set(job, JobObjectExtendedLimitInformation, facts, "limits");
}

Result<JobLimits> read_job(Handle job) {
  HARN_TRY(facts, query<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>(job, JobObjectExtendedLimitInformation, "limits"));
  return JobLimits{.flags = facts.BasicLimitInformation.LimitFlags,
                   .active_process = facts.BasicLimitInformation.ActiveProcessLimit,
                   .process_memory = facts.ProcessMemoryLimit,
                   .job_memory = facts.JobMemoryLimit,
                   .user_time = static_cast<std::uint64_t>(facts.BasicLimitInformation.PerJobUserTimeLimit.QuadPart)};
}

Status limit_job_ui(Handle job, std::uint32_t limits) {
  JOBOBJECT_BASIC_UI_RESTRICTIONS facts = {.UIRestrictionsClass = limits};
  return set(job, JobObjectBasicUIRestrictions, facts, "user interface limits");
}

Result<std::uint32_t> read_job_ui(Handle job) {
  HARN_TRY(facts, query<JOBOBJECT_BASIC_UI_RESTRICTIONS>(job, JobObjectBasicUIRestrictions, "user interface limits"));
  return std::uint32_t{facts.UIRestrictionsClass};
}

Status limit_job_cpu(Handle job, std::uint32_t rate) {
  JOBOBJECT_CPU_RATE_CONTROL_INFORMATION facts = {};
  facts.ControlFlags = JOB_OBJECT_CPU_RATE_CONTROL_ENABLE | JOB_OBJECT_CPU_RATE_CONTROL_HARD_CAP;
  facts.CpuRate = rate;
  return set(job, JobObjectCpuRateControlInformation, facts, "processor rate");
}

Result<std::uint32_t> read_job_cpu(Handle job) {
  HARN_TRY(facts, query<JOBOBJECT_CPU_RATE_CONTROL_INFORMATION>(job, JobObjectCpuRateControlInformation, "processor rate"));
  const DWORD capped = JOB_OBJECT_CPU_RATE_CONTROL_ENABLE | JOB_OBJECT_CPU_RATE_CONTROL_HARD_CAP;
  return (facts.ControlFlags & capped) == capped ? std::uint32_t{facts.CpuRate} : 0u;
}

}  // namespace

void use_jobs(Calls& calls) {
  calls.create_job = create_job;
  calls.limit_job = limit_job;
  calls.limit_job_ui = limit_job_ui;
  calls.limit_job_cpu = limit_job_cpu;
  calls.read_job = read_job;
  calls.read_job_ui = read_job_ui;
  calls.read_job_cpu = read_job_cpu;
  calls.end_job = [](Handle job) { ::TerminateJobObject(native(job), static_cast<UINT>(-9)); };
  SYSTEM_INFO system = {};
  ::GetSystemInfo(&system);
  calls.processors = system.dwNumberOfProcessors;
}

}  // namespace harn::run::windows

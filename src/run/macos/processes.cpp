// SPDX-License-Identifier: Apache-2.0
#include "run/unix/processes.h"

#include <libproc.h>
#include <mach/mach_time.h>
#include <sys/proc.h>
#include <sys/proc_info.h>

namespace harn::run {
namespace {

// Times come in ticks, which are nanoseconds on Intel and something else on Apple's own processors.
std::uint64_t milliseconds(std::uint64_t ticks) {
  static const mach_timebase_info_data_t base = [] {
    mach_timebase_info_data_t out = {};
    ::mach_timebase_info(&out);
    return out;
  }();
  return base.denom == 0 ? 0 : ticks * base.numer / base.denom / 1'000'000;
}

}  // namespace

// A process of another user shows nothing about its memory; it is none of ours either.
std::vector<ProcessEntry> list_processes() {
  const int bytes = ::proc_listpids(PROC_ALL_PIDS, 0, nullptr, 0);
  if (bytes <= 0) return {};
  std::vector<pid_t> pids(static_cast<std::size_t>(bytes) / sizeof(pid_t) + 32);
  const int filled = ::proc_listpids(PROC_ALL_PIDS, 0, pids.data(), static_cast<int>(pids.size() * sizeof(pid_t)));
  if (filled <= 0) return {};
  pids.resize(static_cast<std::size_t>(filled) / sizeof(pid_t));
  std::vector<ProcessEntry> out;
  for (const pid_t pid : pids) {
    proc_bsdinfo about = {};
    if (pid <= 0 || ::proc_pidinfo(pid, PROC_PIDTBSDINFO, 0, &about, sizeof about) != static_cast<int>(sizeof about)) continue;
    ProcessEntry entry{.pid = pid,
                       .parent = static_cast<pid_t>(about.pbi_ppid),
                       .group = static_cast<pid_t>(about.pbi_pgid),
                       .started = about.pbi_start_tvsec * 1'000'000 + about.pbi_start_tvusec,
                       .ended = about.pbi_status == SZOMB};
    proc_taskinfo used = {};
    if (::proc_pidinfo(pid, PROC_PIDTASKINFO, 0, &used, sizeof used) == static_cast<int>(sizeof used)) {
      entry.resident_bytes = used.pti_resident_size;
      entry.cpu_ms = milliseconds(used.pti_total_user + used.pti_total_system);
    }
    out.push_back(entry);
  }
  return out;
}

}  // namespace harn::run

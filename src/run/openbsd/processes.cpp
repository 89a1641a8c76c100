// SPDX-License-Identifier: Apache-2.0
#include "run/unix/processes.h"

#include <signal.h>
#include <sys/param.h>

#include <sys/proc.h>
#include <sys/sysctl.h>
#include <unistd.h>

namespace harn::run {
namespace {

ProcessEntry entry_of(const kinfo_proc& seen, std::uint64_t page_bytes) {
  return {.pid = seen.p_pid,
          .parent = seen.p_ppid,
          .group = seen.p__pgid,
          .started = seen.p_ustart_sec * 1'000'000 + seen.p_ustart_usec,
          .resident_bytes = static_cast<std::uint64_t>(seen.p_vm_rssize) * page_bytes,
          .cpu_ms = seen.p_rtime_sec * 1000 + seen.p_rtime_usec / 1000,
          .ended = seen.p_stat == SDEAD};
}

}  // namespace

// The list grows between asking how long it is and asking for it.
std::vector<ProcessEntry> list_processes() {
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  for (int attempt = 0; attempt < 8; ++attempt) {
    int name[] = {CTL_KERN, KERN_PROC, KERN_PROC_ALL, 0, sizeof(kinfo_proc), 0};
    std::size_t size = 0;
    if (::sysctl(name, 6, nullptr, &size, nullptr, 0) != 0) return {};
    std::vector<kinfo_proc> seen(size / sizeof(kinfo_proc) + 32);
    name[5] = static_cast<int>(seen.size());
    size = seen.size() * sizeof(kinfo_proc);
    if (::sysctl(name, 6, seen.data(), &size, nullptr, 0) != 0) continue;
    seen.resize(size / sizeof(kinfo_proc));
    std::vector<ProcessEntry> out;
    out.reserve(seen.size());
    for (const auto& entry : seen) out.push_back(entry_of(entry, page_bytes));
    return out;
  }
  return {};
}

}  // namespace harn::run

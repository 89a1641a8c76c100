// SPDX-License-Identifier: Apache-2.0
// Memory is never limited by RLIMIT_AS: address space is not memory, and runtimes such as node
// reserve gigabytes of it. A cgroup counts what is used; without one a watchdog samples the tree.
#include "plan/limits.h"

#include <algorithm>
#include <charconv>

#include "plan/coverage.h"

namespace harn::plan {
namespace {

constexpr std::uint64_t mebibyte = 1u << 20;
constexpr std::uint64_t cpu_period_us = 100'000;

struct LimitHost {
  Platform platform = Platform::linux;
  CgroupKind cgroup = CgroupKind::none;
  bool counts_own_namespace = false;  // RLIMIT_NPROC sees the command's processes and nobody else's
};

bool at_least(std::string_view kernel, unsigned major, unsigned minor) {
  unsigned numbers[2] = {0, 0};
  const char* at = kernel.data();
  const char* const end = at + kernel.size();
  for (auto& number : numbers) {
    at = std::from_chars(at, end, number).ptr;
    if (at != end && *at == '.') ++at;
  }
  return numbers[0] > major || (numbers[0] == major && numbers[1] >= minor);
}

// Since Linux 5.14 the limit counts per user and user namespace, and a view has one of its own. It
// does not bind uid 0 of the initial namespace.
bool counts_own_namespace(const HostFacts& facts, const Plan& plan) {
  const auto* linux = std::get_if<LinuxConfinement>(&plan.confinement);
  if (linux == nullptr || !linux->view || facts.uid == 0 || !at_least(facts.linux.kernel, 5, 14)) return false;
  return std::ranges::find(linux->view->namespaces, "user") != linux->view->namespaces.end();
}

// Only Linux has something to give.
std::string cgroup_remedy(const LimitHost& host) { return host.platform == Platform::linux ? "give Harn a delegated cgroup" : ""; }

void limit_memory(const Limits& limits, const LimitHost& host, Plan& plan) {
  if (!limits.max_memory_mb) return;
  const auto bytes = std::to_string(*limits.max_memory_mb * mebibyte);
  if (host.cgroup == CgroupKind::v2) {
    plan.limits.cgroup["memory.max"] = bytes;
    plan.limits.cgroup["memory.swap.max"] = "0";
    plan.limits.cgroup["memory.oom.group"] = "1";
  } else if (host.cgroup == CgroupKind::v1) {
    plan.limits.cgroup["memory.limit_in_bytes"] = bytes;
    plan.limits.cgroup["memory.memsw.limit_in_bytes"] = bytes;
  } else {
    plan.limits.watched["memory_bytes"] = *limits.max_memory_mb * mebibyte;
    enforced_by(plan.coverage, Dimension::memory, "supervisor");
    open_gap(
        plan.coverage,
        {.dimension = Dimension::memory,
         .code = "memory_sampled",
         .paths = {},
         .detail = "memory is sampled, not charged: a burst can pass the limit for a moment before the tree is killed, and memory can be "
                   "hidden from sampling",
         .remedy = cgroup_remedy(host)},
        Enforcement::degraded);
    return;
  }
  enforced_by(plan.coverage, Dimension::memory, "cgroup");
}

// Soft before hard, so that a single process ends by SIGXCPU; the tree's total is compared by the
// supervisor, as the cgroup counts it or as /proc shows it.
void limit_cpu_time(std::uint64_t seconds, const LimitHost& host, Plan& plan) {
  plan.limits.rlimits.push_back({"cpu", seconds, seconds + 1});
  plan.limits.watched["cpu_seconds"] = seconds;
  enforced_by(plan.coverage, Dimension::cpu, "limits");
  if (host.cgroup == CgroupKind::v1) plan.limits.cgroup["cpuacct.usage"] = "0";
  if (host.cgroup != CgroupKind::none) return enforced_by(plan.coverage, Dimension::cpu, "cgroup");
  enforced_by(plan.coverage, Dimension::cpu, "supervisor");
  open_gap(plan.coverage,
           {.dimension = Dimension::cpu,
            .code = "cpu_sampled",
            .paths = {},
            .detail = "processor time of the tree is sampled: processes too short to be seen and not waited for are not counted",
            .remedy = cgroup_remedy(host)},
           Enforcement::degraded);
}

void limit_cpu(const Limits& limits, const LimitHost& host, Plan& plan) {
  if (limits.max_cpu_seconds) limit_cpu_time(*limits.max_cpu_seconds, host, plan);
  if (!limits.cpu_milli) return;
  const auto quota = std::to_string(*limits.cpu_milli * cpu_period_us / 1000);
  if (host.cgroup == CgroupKind::v2) plan.limits.cgroup["cpu.max"] = quota + " " + std::to_string(cpu_period_us);
  else if (host.cgroup == CgroupKind::v1) plan.limits.cgroup["cpu.cfs_quota_us"] = quota;
  if (host.cgroup != CgroupKind::none) return enforced_by(plan.coverage, Dimension::cpu, "cgroup");
  open_gap(plan.coverage,
           {.dimension = Dimension::cpu,
            .code = "cpu_share_not_limited",
            .paths = {},
            .detail = "cpu_count needs a cgroup, which only Linux has",
            .remedy = cgroup_remedy(host)},
           Enforcement::not_enforced);
}

// What runs beside the command and is counted with it.
std::uint64_t processes_of_wrapper(Backend backend) {
  return backend == Backend::bubblewrap || backend == Backend::firejail ? 2 : 0;  // the program itself and its pid 1
}

void limit_processes(const Limits& limits, const LimitHost& host, Plan& plan) {
  if (!limits.max_processes) return;
  const auto counted = *limits.max_processes + processes_of_wrapper(plan.backend);
  if (host.cgroup != CgroupKind::none) {
    plan.limits.cgroup["pids.max"] = std::to_string(counted);
    return enforced_by(plan.coverage, Dimension::processes, "cgroup");
  }
  if (host.counts_own_namespace) {
    // The init program of the view is one more.
    plan.limits.rlimits.push_back({"nproc", *limits.max_processes + 1, *limits.max_processes + 1});
    return enforced_by(plan.coverage, Dimension::processes, "limits");
  }
  plan.limits.watched["processes"] = counted;
  enforced_by(plan.coverage, Dimension::processes, "supervisor");
  open_gap(plan.coverage,
           {.dimension = Dimension::processes,
            .code = "processes_sampled",
            .paths = {},
            .detail = "processes are counted by sampling: a burst can pass the limit for a moment before the tree is killed",
            .remedy = cgroup_remedy(host)},
           Enforcement::degraded);
}

}  // namespace

void lower_posix_limits(const Policy& policy, const HostFacts& facts, Plan& plan) {
  const auto& limits = policy.limits;
  const LimitHost host{.platform = facts.platform,
                       .cgroup = facts.platform == Platform::linux ? facts.linux.cgroup : CgroupKind::none,
                       .counts_own_namespace = counts_own_namespace(facts, plan)};
  limit_memory(limits, host, plan);
  limit_cpu(limits, host, plan);
  limit_processes(limits, host, plan);
  // Nothing of the tree makes groups below its own, and the counters exist even where nothing is set.
  const bool counted = !plan.limits.cgroup.empty() || limits.max_cpu_seconds;
  if (host.cgroup == CgroupKind::v2 && counted) plan.limits.cgroup["cgroup.max.descendants"] = "0";
  if (limits.max_file_size_mb) {
    const auto bytes = *limits.max_file_size_mb * mebibyte;
    plan.limits.rlimits.push_back({"fsize", bytes, bytes});
    enforced_by(plan.coverage, Dimension::file_size, "limits");
  }
  if (limits.max_open_files) plan.limits.rlimits.push_back({"nofile", *limits.max_open_files, *limits.max_open_files});
  // One byte is less than any dump needs; 0 would not keep the kernel from starting a handler outside
  // that the system's core_pattern names and that reads the dump from a pipe.
  plan.limits.rlimits.push_back({"core", 1, 1});
  plan.limits.max_output_bytes = limits.max_output_bytes;
  if (limits.idle_timeout) plan.limits.idle_timeout_ms = static_cast<std::uint64_t>(limits.idle_timeout->count());
  if (!limits.wall_time) return;
  plan.limits.wall_time_ms = static_cast<std::uint64_t>(limits.wall_time->count());
  enforced_by(plan.coverage, Dimension::wall_time, "supervisor");
}

}  // namespace harn::plan

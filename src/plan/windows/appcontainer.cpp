// SPDX-License-Identifier: Apache-2.0
// Windows: an AppContainer sees only what grants its SID, and a job object ends with its last handle.
// Nothing here edits a token or a list; the applier does, from this.
#include "base/env_names.h"
#include "plan/coarse_gaps.h"
#include "plan/coverage.h"
#include "plan/linux/dangerous_sockets.h"
#include "plan/linux/network_reach.h"
#include "plan/lower.h"
#include "plan/windows/acl_list.h"

namespace harn::plan {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1024} * 1024;
constexpr std::uint64_t job_ticks_per_second = 10'000'000;  // the job counts in units of 100 ns

// Where the container's own folder goes once the profile exists.
constexpr std::string_view folder = "@container:folder";

std::map<std::string, std::string> container_environment(const Policy& policy) {
  std::map<std::string, std::string> out;
  const auto put = [&](const char* name, std::string value) {
    if (base::find_ignoring_case(policy.env.set, name) == nullptr) out[name] = std::move(value);
  };
  put("LOCALAPPDATA", std::string(folder));
  put("TEMP", std::string(folder) + "\\Temp");
  put("TMP", std::string(folder) + "\\Temp");
  return out;
}

void limit_job(const Limits& limits, AppContainer& container, Plan& plan) {
  if (limits.max_memory_mb) {
    container.job_limits["job_memory"] = *limits.max_memory_mb * mebibyte;
    enforced_by(plan.coverage, Dimension::memory, "job");
  }
  if (limits.max_processes) {
    container.job_limits["active_process"] = *limits.max_processes;
    enforced_by(plan.coverage, Dimension::processes, "job");
  }
  if (limits.max_cpu_seconds) {
    // The job counts user time only; the supervisor adds kernel time from the job's accounting.
    container.job_limits["job_user_time"] = *limits.max_cpu_seconds * job_ticks_per_second;
    plan.limits.watched["cpu_seconds"] = *limits.max_cpu_seconds;
    enforced_by(plan.coverage, Dimension::cpu, "job");
  }
  if (limits.cpu_milli) {
    container.job_limits["cpu_rate_milli"] = *limits.cpu_milli;
    enforced_by(plan.coverage, Dimension::cpu, "job");
  }
}

void limit_rest(const Limits& limits, Plan& plan) {
  if (limits.max_file_size_mb)
    open_gap(plan.coverage,
             {.dimension = Dimension::file_size,
              .code = "file_size_not_limited",
              .paths = {},
              .detail = "Windows has no limit on the size of single files",
              .remedy = "use a quota on the volume"},
             Enforcement::not_enforced);
  if (limits.max_open_files) plan.notes.emplace_back("max_open_files has no effect: Windows has no limit on open handles");
  plan.limits.max_output_bytes = limits.max_output_bytes;
  if (limits.idle_timeout) plan.limits.idle_timeout_ms = static_cast<std::uint64_t>(limits.idle_timeout->count());
  if (!limits.wall_time) return;
  plan.limits.wall_time_ms = static_cast<std::uint64_t>(limits.wall_time->count());
  enforced_by(plan.coverage, Dimension::wall_time, "supervisor");
}

// Windows itself lets every container read its system directories, whatever the policy says.
void cover_system_reads(const PlanInput& input, Coverage& coverage) {
  AbsPath volume = input.facts.home;
  while (!volume.is_root()) volume = volume.parent();
  Gap gap{.dimension = Dimension::reads,
          .code = "system_reads_open",
          .paths = {},
          .detail = "Windows lets every container read and run what lies in its system directories",
          .remedy = {}};
  for (const auto* name : {"Program Files", "Program Files (x86)", "Windows"})
    if (input.rules.access(volume.join(name)) == Access::none) gap.paths.push_back(volume.join(name));
  open_gap_at(coverage, std::move(gap), Enforcement::degraded);
}

void cover_paths(const PlanInput& input, const AclList& list, Coverage& coverage) {
  for (const auto dimension : {Dimension::reads, Dimension::writes, Dimension::credential_reads, Dimension::unix_sockets})
    enforced_by(coverage, dimension, "acl");
  cover_joint_deletes(input.rules, coverage);
  cover_unguarded_names(list.unguarded_names, coverage);
  cover_absent_denials(input.rules, list.unhidden_names, coverage);
  cover_movable(list.movable, coverage);
  cover_system_reads(input, coverage);
}

void cover_processes(Coverage& coverage) {
  for (const auto dimension : {Dimension::metadata, Dimension::signals, Dimension::process_inspection, Dimension::devices})
    enforced_by(coverage, dimension, "appcontainer");
  open_gap(coverage,
           {.dimension = Dimension::process_inspection,
            .code = "process_listing",
            .paths = {},
            .detail = "names and ids of other processes can be listed; the processes themselves cannot be opened",
            .remedy = {}},
           Enforcement::degraded);
}

}  // namespace

Status lower_appcontainer(const PlanInput& input, Plan& plan) {
  HARN_OK(refuse_dangerous_sockets(input.policy));
  auto list = acl_list(input);
  cover_paths(input, list, plan.coverage);
  cover_processes(plan.coverage);
  cover_whole_network(input.policy, "appcontainer", "a container's capability", plan.coverage);

  AppContainer container{.name = "harn.sandbox"};
  if (network_reach(input.policy) == NetworkReach::unrestricted)
    container.capability_sids = {"internetClient", "privateNetworkClientServer"};
  container.grants = std::move(list.grants);
  container.environment = container_environment(input.policy);
  container.job_flags = {"die_on_unhandled_exception", "kill_on_job_close"};
  container.ui_limits = {"desktop", "display_settings", "exit_windows",      "global_atoms",
                         "handles", "read_clipboard",   "system_parameters", "write_clipboard"};
  limit_job(input.policy.limits, container, plan);
  limit_rest(input.policy.limits, plan);
  plan.confinement = std::move(container);
  return {};
}

}  // namespace harn::plan

// SPDX-License-Identifier: Apache-2.0
// The native backend: every layer this kernel offers, together. First what the network and Unix
// sockets need is settled, because it decides namespaces, ports and system calls alike; then each
// layer is planned on its own; last the coverage says who holds what.
#include <algorithm>

#include "base/text.h"
#include "plan/environment.h"
#include "plan/limits.h"
#include "plan/linux/dangerous_sockets.h"
#include "plan/linux/egress_plan.h"
#include "plan/linux/linux_coverage.h"
#include "plan/linux/supervisor.h"
#include "plan/workspace_scratch.h"

namespace harn::plan {
namespace {

// Without a namespace the supervisor leads every connection to the relay. There is no loopback of the command's own then,
// so whoever needs one has no network.
bool network_supervisable(const PlanInput& input) {
  const auto& linux = input.facts.linux;
  return linux.seccomp && linux.seccomp_notify && linux.pidfd_getfd && linux.landlock_abi >= 1 && !linux.user_namespaces &&
         !input.policy.effective_network().loopback && input.egress.publish.empty();
}

bool has_own_network(NetworkReach reach) { return reach == NetworkReach::loopback || reach == NetworkReach::restricted; }

// Where the policy would admit hosts if it named any, each is a question.
bool asks_about_hosts(const PlanInput& input) {
  return input.ask && input.policy.level() == SideEffectLevel::network && input.policy.effective_network().mode == NetworkMode::limited;
}

LinuxLayers choose_layers(const PlanInput& input) {
  const auto& linux = input.facts.linux;
  const bool own_network_possible = linux.user_namespaces && linux.network_namespaces;
  LinuxLayers layers;
  layers.filtered = linux.seccomp;
  layers.asked = network_reach(input.policy);
  const bool supervisable = !own_network_possible && network_supervisable(input);
  if ((own_network_possible || supervisable) && asks_about_hosts(input)) layers.asked = NetworkReach::restricted;
  layers.supervised_network = supervisable && layers.asked == NetworkReach::restricted;
  // What needs a network of its own and cannot have one gets nothing rather than the host's.
  const bool held = own_network_possible || layers.supervised_network;
  layers.given = has_own_network(layers.asked) && !held ? NetworkReach::none : layers.asked;
  layers.room = layers.given;
  if (input.hosts_later && own_network_possible && layers.filtered && layers.given != NetworkReach::unrestricted)
    layers.room = NetworkReach::restricted;
  layers.sockets = socket_reach(input, layers.room, layers.supervised_network);
  // A network namespace costs more than all others together: only where something needs it.
  const bool unfiltered = !layers.filtered && layers.given == NetworkReach::none && own_network_possible;
  layers.isolation.loopback = has_own_network(layers.room) && own_network_possible;
  layers.isolation.network = layers.isolation.loopback || layers.sockets.private_network || unfiltered;
  if (has_own_network(layers.given)) layers.egress = plan_egress(input, layers.given);
  if (layers.egress) layers.egress->supervised = layers.supervised_network;
  if (linux.user_namespaces) layers.view = plan_view(input, layers.isolation);
  if (layers.view && layers.room == NetworkReach::restricted) layers.view->view.files = name_files();
  if (linux.landlock_abi >= 1)
    layers.landlock = plan_landlock(
        input, {.view = layers.view ? &layers.view->view : nullptr, .reach = layers.room, .relay_only = layers.supervised_network});
  if (!layers.filtered || !linux.seccomp_notify) return layers;
  if (!layers.view && layers.landlock)
    layers.supervisor = plan_supervisor(input, *layers.landlock, layers.sockets, layers.supervised_network);
  if (layers.view && input.explain) layers.supervisor = plan_explanation(layers.view->view);
  if (layers.supervisor) {
    layers.supervisor->records = input.explain && input.record;
    layers.supervisor->asks = input.explain && input.ask;
  }
  return layers;
}

Result<std::optional<SyscallFilter>> filter_for(const PlanInput& input, LinuxLayers& layers) {
  if (!layers.filtered) return std::optional<SyscallFilter>{};
  const bool view = layers.view.has_value();
  const bool decides = layers.supervisor && layers.supervisor->decides;
  const SyscallOptions options{.arch = input.facts.linux.arch,
                               .network = layers.room,
                               .private_network = view && layers.isolation.network,
                               .unix_full = layers.sockets.full,
                               .unix_datagrams = layers.sockets.full && !layers.sockets.no_datagrams,
                               .private_ipc = view,
                               .private_pids = view && input.facts.linux.pid_namespaces,
                               .metadata = somewhere_writable(input.rules) || (view && wants_temp(input.policy)),
                               .truncation_checked = view || layers.supervisor || input.facts.linux.landlock_abi >= 3,
                               .root = input.facts.uid == 0,
                               .supervised = layers.supervisor.has_value(),
                               .supervised_reads = layers.supervisor && (layers.supervisor->reads || layers.supervisor->explains),
                               .supervised_binds = decides && layers.sockets.full && input.facts.linux.pidfd_getfd,
                               .supervised_sockets = layers.sockets.supervised,
                               .supervised_network = layers.supervised_network,
                               .supervised_signals = decides && supervises_signals(input.facts),
                               .plain_ioctls = decides && limits_ioctls(input),
                               .explained = layers.supervisor && layers.supervisor->explains};
  HARN_TRY(filter, plan_syscalls(options));
  if (options.explained) layers.supervisor->looks_at = calls_looked_at(options);
  return std::optional<SyscallFilter>(std::move(filter));
}

// Temporary files go where the command may write: a private /tmp, or a directory of the run inside
// the workspace. Caches follow where the home directory is not writable.
void place_temp(const PlanInput& input, bool view, Plan& plan) {
  if (!wants_temp(input.policy)) return;
  const auto tmp = AbsPath::of("/tmp");
  if (view && input.rules.access(tmp) != Access::read) return point_temp_at(input.policy, tmp.text(), plan);
  move_temp_into_workspace(input, plan);
  if (!plan.scratch) {
    plan.notes.emplace_back("there is no writable workspace root to hold temporary files");
    return;
  }
  const auto home = input.rules.access(input.facts.home);
  const bool home_private = view && home == Access::none;
  if (home == Access::write || home_private) return;
  for (const auto* name : {"XDG_CACHE_HOME", "npm_config_cache"})
    if (!input.policy.env.set.contains(name)) plan.env.variables[name] = plan.scratch->join("cache").text();
}

// What is refused although the policy does not ask for it; never a gap, but people should know.
void note_refusals(const LinuxLayers& layers, Plan& plan) {
  if (layers.view) plan.notes.insert(plan.notes.end(), layers.view->notes.begin(), layers.view->notes.end());
  if (!layers.sockets.note.empty()) plan.notes.push_back(layers.sockets.note);
  if (!layers.landlock) return;
  const int abi = layers.landlock->plan.abi;
  if (abi < 2) plan.notes.emplace_back("files cannot be moved or linked between directories: Landlock ABI 1 always refuses it");
  if (layers.supervisor)
    plan.notes.emplace_back("programs find no Landlock for themselves: the supervisor that acts for them would not be bound by it");
  if (layers.view) return;
  if (abi < 3 && layers.filtered && !layers.supervisor)
    plan.notes.emplace_back("truncate by path is refused: Landlock before ABI 3 cannot judge it");
  plan.notes.emplace_back("terminals and shared memory of the host stay closed: without user namespaces there are no private ones");
  for (const auto& directory : layers.landlock->not_listable)
    plan.notes.push_back(base::quoted(directory.text()) + " cannot be listed, because something in it is denied");
}

void note_explanation(const PlanInput& input, const LinuxLayers& layers, Plan& plan) {
  if (asks_about_hosts(input) && layers.given != NetworkReach::restricted)
    plan.notes.emplace_back("hosts are not asked about, only refused: that needs a network namespace or a supervisor");
  if (!input.explain || layers.supervisor) return;
  plan.notes.emplace_back(
      "refusals are not explained: a supervisor cannot listen here ('harn doctor' says why), or nothing could be refused");
}

// Where a limit depends on it, it is a gap of that limit.
void note_life(const PlanInput& input, const LinuxLayers& layers, Plan& plan) {
  const bool held = layers.view && input.facts.linux.pid_namespaces;
  if (held || input.policy.limits.wall_time || input.policy.limits.max_processes) return;
  plan.notes.emplace_back(outlives_launcher_detail);
}

}  // namespace

Status lower_linux(const PlanInput& input, Plan& plan) {
  HARN_OK(refuse_dangerous_sockets(input.policy));
  auto layers = choose_layers(input);
  if (!layers.view && !layers.landlock)
    return fail(Error{.code = ErrorCode::not_supported,
                      .stage = Stage::plan,
                      .message = "this kernel offers neither user namespaces nor Landlock",
                      .hint = "use another backend, or a kernel with Landlock (Linux 5.13)"});
  LinuxConfinement confinement;
  HARN_TRY(filter, filter_for(input, layers));
  confinement.syscalls = std::move(filter);

  plan.egress = layers.egress;
  if (layers.given == NetworkReach::restricted) point_proxies_at(input.policy, layers.egress->relay_port, plan);
  place_temp(input, layers.view.has_value(), plan);
  note_refusals(layers, plan);
  note_explanation(input, layers, plan);
  note_life(input, layers, plan);
  cover_linux(input, layers, plan.coverage);
  if (layers.view) confinement.view = std::move(layers.view->view);
  if (layers.landlock) confinement.landlock = std::move(layers.landlock->plan);
  confinement.supervisor = std::move(layers.supervisor);
  plan.confinement = std::move(confinement);
  lower_posix_limits(input.policy, input.facts, plan);  // looks at the namespaces just planned
  return {};
}

}  // namespace harn::plan

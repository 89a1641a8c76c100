// SPDX-License-Identifier: Apache-2.0
#include "session/provision.h"

#include <algorithm>

#include "embed/ready.h"
#include "plan/limits.h"
#include "plan/names.h"
#include "policy/egress_environment.h"
#include "sandbox/run_joined.h"
#include "session/errors.h"
#include "session/life.h"
#include "session/overlay.h"
#include "sys/files.h"

namespace harn::session {
namespace {

// Memory and outputs, unless the spec names them itself.
std::vector<FilesystemMount> mounts_of(const SandboxSpec& spec) {
  std::vector<FilesystemMount> out;
  const auto named = [&](std::string_view target) {
    return std::ranges::any_of(spec.mounts, [&](const FilesystemMount& mount) {
      const auto normal = normalized_mount_target(mount.target);
      return normal && *normal == target;
    });
  };
  if (!named(memory_mount)) out.push_back({.target = std::string(memory_mount), .access = FilesystemAccess::read_only});
  if (!named(outputs_mount)) out.push_back({.target = std::string(outputs_mount), .access = FilesystemAccess::read_write});
  out.insert(out.end(), spec.mounts.begin(), spec.mounts.end());
  return out;
}

// An engine limits a container as a whole, whatever runs in it.
void narrow(const Limits& together, Limits& limits) {
  const auto least = [](std::optional<std::uint64_t>& limit, const std::optional<std::uint64_t>& total) {
    if (total) limit = std::min(limit.value_or(*total), *total);
  };
  least(limits.max_memory_mb, together.max_memory_mb);
  least(limits.max_processes, together.max_processes);
  least(limits.cpu_milli, together.cpu_milli);
}

SandboxResult<std::map<std::string, std::string>> values_for(const ProvisionRequest& request, const Plan& plan) {
  std::map<std::string, std::string> out;
  if (std::holds_alternative<Wrapper>(plan.confinement) || request.together == Limits{}) return out;
  Policy policy;
  policy.limits = request.together;
  Plan counted;
  plan::lower_posix_limits(policy, request.ground.facts, counted);
  out = std::move(counted.limits.cgroup);
  out.erase("cgroup.max.descendants");  // commands have groups in it
  const bool kept = sandbox::check_keepable(plan).has_value();
  if (request.together_or_none && (out.empty() || !kept))
    return unsupported("local", "limits for a whole session without a cgroup and user namespaces",
                       "limit each command (--memory, --procs), or run it where a cgroup is delegated to you");
  if (!kept) out.clear();
  return out;
}

std::string backend_name(const PlanOptions& options) {
  const bool engine = options.backend == Backend::docker || options.backend == Backend::podman;
  return engine ? std::string(base::enum_name(*options.backend)) : "local";
}

}  // namespace

SandboxResult<Record> provision(ProvisionRequest request) {
  const auto& spec = request.spec;
  const auto& ground = request.ground;
  std::optional<std::string> id;
  if (spec.session_id) id = spec.session_id->value;
  HARN_SESSION_TAKE(reserved, Reserved::make(ground.places, id, backend_name(request.options)));
  auto& record = reserved.record;
  record.own_root = !request.root;
  const auto root = request.root.value_or(record.root);
  if (record.own_root) HARN_SESSION_OK(sys::make_directories(root), io);
  HARN_SESSION_TRY(real_root, sys::real_path(root), io);
  record.root = std::move(real_root);
  record.labels = spec.labels;
  record.limits = spec.limits;
  record.network = record.provisioned = spec.network_policy;
  record.egress = request.options.egress;
  record.nameservers = policy::egress_resolvers(request.environment);
  for (const auto& mount : mounts_of(spec)) {
    HARN_SESSION_TAKE(shown, resolve_mount(mount, record.id, record.mounts, ground));
    record.mounts.push_back(std::move(shown));
  }
  auto policy = std::move(request.policy);
  if (!policy.workspace_roots) policy.workspace_roots = {record.root};
  if (record.contained()) narrow(request.together, policy.limits);
  grant(record.mounts, policy);
  name_mounts(record.mounts, record.contained() || ground.facts.linux.user_namespaces, policy);
  request.options.guests = guests_of(record.mounts);
  request.options.hosts_later = !record.contained();
  if (request.options.overlay) {
    if (record.contained()) return unsupported(record.backend, "changes that wait", "leave --overlay out, or use the local backend");
    request.options.overlay = overlay_of(ground.places, record.id);
  }
  HARN_SESSION_TRY(sandbox, Sandbox::open(policy, {.environment = request.environment, .cwd = record.root}, request.options), lifecycle);
  Command command{.argv = {"true"}, .cwd = record.root, .environment = request.environment};
  if (!request.image.empty()) command.image = request.image;
  HARN_SESSION_TRY(plan, sandbox.plan(command), lifecycle);
  // Held until the session is there; its layers stay.
  HARN_SESSION_TRY(pending, begin_overlay(request.options, plan), lifecycle);
  record.overlay = pending.has_value();
  HARN_SESSION_TAKE(cgroup, values_for(request, plan));
  return reserved.start({.plan = plan,
                         .policy = sandbox.policy(),
                         .command = command,
                         .lifetime = request.lifetime,
                         .cgroup = std::move(cgroup),
                         .canary = embed::make_canary(request.environment),
                         .whole_process = request.whole_process});
}

}  // namespace harn::session

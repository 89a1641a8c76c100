// SPDX-License-Identifier: Apache-2.0
#include "session/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "embed/ready.h"
#include "harn/policy_text.h"
#include "plan/environment.h"
#include "plan/names.h"
#include "sandbox/run_joined.h"
#include "session/contained.h"
#include "session/errors.h"
#include "session/life.h"
#include "session/mounts.h"
#include "sys/files.h"

namespace harn::session {
namespace {

constexpr std::size_t longest_plan = 64u << 20;

bool is_variable_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; };
  return !name.empty() && letter(name.front()) && std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

SandboxResult<void> check_call(const Call& call) {
  if (call.argv.empty() || base::trim(call.argv.front()).empty())
    return fail_with(Kind::invalid_request, "exec command cannot be empty", "name a program");
  for (const auto& word : call.argv)
    if (word.find('\0') != std::string::npos) return fail_with(Kind::invalid_request, "an argument contains a NUL byte");
  for (const auto& [name, value] : call.env)
    if (!is_variable_name(name) || value.find('\0') != std::string::npos)
      return fail_with(Kind::invalid_request, fmt::format("invalid environment key {}", base::quoted(name)));
  return {};
}

// Inside: a path in the session's root, in one of the policy's roots, or in a mount.
SandboxResult<AbsPath> place_inside(const Ready& ready, const std::optional<std::string>& cwd) {
  const auto& record = ready.record;
  if (!cwd || base::trim(*cwd).empty()) return record.root;
  auto path = cwd->starts_with('/') ? AbsPath::parse(*cwd) : AbsPath::parse(record.root.text() + "/" + *cwd);
  if (!path) return fail_with(Kind::invalid_request, fmt::format("working directory {} is no path", base::quoted(*cwd)));
  const auto inside = [&](const std::vector<AbsPath>& roots) {
    return std::ranges::any_of(roots, [&](const AbsPath& root) { return root.contains(*path); });
  };
  const bool mounted = std::ranges::any_of(record.mounts, [&](const Shown& shown) { return shown.target.contains(*path); });
  if (record.root.contains(*path) || mounted || inside(entries(ready.policy.workspace_roots)) ||
      inside(entries(ready.policy.read_only_roots))) {
    if (record.guest_paths() || !mounted) return std::move(*path);
    for (const auto& shown : record.mounts)
      if (shown.target.contains(*path)) return shown.source.join(shown.target.below(*path));
  }
  return fail_with(Kind::invalid_request,
                   fmt::format("working directory {} is outside the session's root and mounts", base::quoted(path->text())),
                   "use one inside, or mount it first");
}

// On top of the view's own filter: one that leaves no network.
std::optional<SyscallFilter> narrower(const Ready& ready) {
  const auto* linux = std::get_if<LinuxConfinement>(&ready.light.confinement);
  if (ready.record.network == ready.record.provisioned || linux == nullptr || !linux->syscalls) return std::nullopt;
  return SyscallFilter{.arch = linux->syscalls->arch,
                       .otherwise = SyscallAction::allow,
                       .rules = {{.names = {"socket"},
                                  .when = {{.index = 0, .mask = 0xffffffff, .compare = Compare::not_equal, .value = AF_UNIX}},
                                  .action = SyscallAction::errno_,
                                  .error = EPERM,
                                  .reason = "the session's network was closed"}}};
}

SandboxResult<Plan> plan_for(const Places& places, const Ready& ready, const Call& call) {
  if (!call.options.receipt) return ready.light;
  HARN_SESSION_TRY(text, sys::read_file(plan_file(places, ready.record.id), longest_plan), io);
  HARN_SESSION_TRY(plan, plan_from_json(text), json);
  return plan;
}

SandboxResult<Outcome> run_kept(const Places& places, const Ready& ready, const embed::Environment& environment, Call call, Policy policy) {
  HARN_SESSION_TAKE(plan, plan_for(places, ready, call));
  // Its group ends with it, and everybody in it.
  if (call.keeps_processes && !plan.limits.cgroup.empty())
    return unsupported(ready.record.backend, "processes that outlive a command with limits of its own",
                       "leave --keep out, or limit the session as a whole (--total-memory, --total-procs)");
  plan.argv = call.argv;
  HARN_SESSION_TAKE(cwd, place_inside(ready, call.cwd));
  plan.cwd = std::move(cwd);
  plan::plan_environment(policy, {.argv = plan.argv, .environment = environment}, plan);
  for (const auto& [name, value] : ready.record.env_added)
    if (!call.env.contains(name)) plan.env.variables.insert_or_assign(name, value);
  shorten(plan.limits.wall_time_ms, call.timeout);
  sandbox::Joined joined{.directory = ready.record.socket,
                         .keeps_processes = call.keeps_processes,
                         .plan_digest = ready.record.plan_digest,
                         .narrower = narrower(ready),
                         .own_terminal = call.own_terminal,
                         .cgroups = ready.record.cgroups};
  for (const auto& name : ready.record.proofs)
    if (const auto dimension = base::enum_value<Dimension>(name)) joined.proofs.push_back(*dimension);
  call.options.workspace = entries(policy.workspace_roots);
  auto outcome = sandbox::run_joined(plan, call.options, joined);
  if (outcome && call.options.receipt) outcome->receipt.layers["sleep"] = stopped_by;
  if (outcome) return std::move(*outcome);
  const auto& error = outcome.error();
  if (error.os_error == ECONNREFUSED || (error.os_error == ENOENT && error.stage == Stage::prepare))
    return not_found(ready.record.id, "its keeper is gone: 'harn session gc' clears away what is left");
  return std::unexpected(from(std::move(outcome).error(), Kind::exec));
}

// Without a view there is nothing to keep: every command gets its boundary anew, and holds the session meanwhile.
SandboxResult<Outcome> run_anew(const Places& places, const Ready& ready, const embed::Environment& environment, Call call, Policy policy) {
  if (ready.record.suspended) HARN_SESSION_PASS(wake(places, ready.record.id));
  const sys::UniqueFd busy(::open(busy_file(places, ready.record.id).text().c_str(), O_RDONLY | O_CLOEXEC));
  if (!busy || ::flock(busy.get(), LOCK_SH) != 0) return not_found(ready.record.id);
  HARN_SESSION_TAKE(cwd, place_inside(ready, call.cwd));
  if (ready.record.network != ready.record.provisioned) {
    policy.network.reset();
    policy.side_effect_level = SideEffectLevel::process_exec;
  }
  HARN_SESSION_TRY(sandbox, Sandbox::open(std::move(policy), {.environment = environment, .cwd = cwd}), exec);
  HARN_SESSION_TRY(plan, sandbox.plan({.argv = call.argv, .cwd = cwd, .environment = environment}), exec);
  if (plan.refusal) return fail_with(Kind::exec, plan.refusal->message, plan.refusal->hint);
  shorten(plan.limits.wall_time_ms, call.timeout);
  call.options.canary = embed::make_canary(environment);
  HARN_SESSION_TRY(outcome, run_plan(plan, call.options), exec);
  return outcome;
}

}  // namespace

void shorten(std::optional<std::uint64_t>& limit, const std::optional<std::chrono::nanoseconds>& time) {
  if (!time) return;
  const auto asked = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::milliseconds>(*time).count()));
  limit = std::min(limit.value_or(asked), asked);
}

AbsPath plan_file(const Places& places, const std::string& id) { return place_of(places, id).join("plan.json"); }
AbsPath exec_file(const Places& places, const std::string& id) { return place_of(places, id).join("exec.json"); }
AbsPath busy_file(const Places& places, const std::string& id) { return place_of(places, id).join("busy"); }

SandboxResult<Ready> make_ready(const Places& places, Record record, const AbsPath& home) {
  Ready out;
  HARN_SESSION_TRY(policy, parse_policy_json(record.policy, {.home = home}), json);
  out.policy = std::move(policy);
  HARN_SESSION_TRY(text, sys::read_file(exec_file(places, record.id), longest_plan), io);
  HARN_SESSION_TRY(plan, plan_from_json(text), json);
  out.light = std::move(plan);
  out.record = std::move(record);
  return out;
}

SandboxResult<Outcome> run_in(const Places& places, const Ready& ready, const embed::Environment& environment, Call call) {
  HARN_SESSION_PASS(check_call(call));
  HARN_SESSION_OK(embed::check_not_blocked(ready.policy, call.argv), exec);
  auto policy = ready.policy;
  for (const auto& [name, value] : call.env) policy.env.set.insert_or_assign(name, value);
  if (ready.record.contained()) {
    HARN_SESSION_TAKE(cwd, place_inside(ready, call.cwd));
    return run_contained(places, ready, environment, std::move(call), std::move(policy), std::move(cwd));
  }
  return ready.record.kept ? run_kept(places, ready, environment, std::move(call), std::move(policy))
                           : run_anew(places, ready, environment, std::move(call), std::move(policy));
}

}  // namespace harn::session

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
#include "session/network.h"
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

struct Inside {
  const AbsPath& root;
  const std::vector<Shown>& mounts;
  const std::vector<AbsPath>& workspace_roots;
  const std::vector<AbsPath>& read_only_roots;
  bool guest_paths = true;
};

Inside inside_of(const Ready& ready) {
  return {.root = ready.record.root,
          .mounts = ready.record.mounts,
          .workspace_roots = entries(ready.policy.workspace_roots),
          .read_only_roots = entries(ready.policy.read_only_roots),
          .guest_paths = ready.record.guest_paths()};
}

Inside inside_of(const Entry& entry) {
  return {.root = entry.root, .mounts = entry.mounts, .workspace_roots = entry.workspace_roots, .read_only_roots = entry.read_only_roots};
}

// Inside: a path in the session's root, in one of the policy's roots, or in a mount.
SandboxResult<AbsPath> place_inside(const Inside& session, const std::optional<std::string>& cwd) {
  if (!cwd || base::trim(*cwd).empty()) return session.root;
  auto path = cwd->starts_with('/') ? AbsPath::parse(*cwd) : AbsPath::parse(session.root.text() + "/" + *cwd);
  if (!path) return fail_with(Kind::invalid_request, fmt::format("working directory {} is no path", base::quoted(*cwd)));
  const auto inside = [&](const std::vector<AbsPath>& roots) {
    return std::ranges::any_of(roots, [&](const AbsPath& root) { return root.contains(*path); });
  };
  const bool mounted = std::ranges::any_of(session.mounts, [&](const Shown& shown) { return shown.target.contains(*path); });
  if (session.root.contains(*path) || mounted || inside(session.workspace_roots) || inside(session.read_only_roots)) {
    if (session.guest_paths || !mounted) return std::move(*path);
    for (const auto& shown : session.mounts)
      if (shown.target.contains(*path)) return shown.source.join(shown.target.below(*path));
  }
  return fail_with(Kind::invalid_request,
                   fmt::format("working directory {} is outside the session's root and mounts", base::quoted(path->text())),
                   "use one inside, or mount it first");
}

std::unexpected<SandboxError> keeper_gone(const Entry& entry) {
  return not_found(entry.id, entry.boot_id == boot_id() ? "its keeper is gone: 'harn session gc' clears away what is left"
                                                        : "it ended with a reboot: 'harn session gc' clears away what is left");
}

// On top of the view's own filter, which has room for hosts that may be named later: one that leaves no network.
std::optional<SyscallFilter> narrower(const Entry& entry) {
  if (!entry.network_closed || entry.arch.empty()) return std::nullopt;
  return SyscallFilter{.arch = entry.arch,
                       .otherwise = SyscallAction::allow,
                       .rules = {{.names = {"socket"},
                                  .when = {{.index = 0, .mask = 0xffffffff, .compare = Compare::not_equal, .value = AF_UNIX}},
                                  .action = SyscallAction::errno_,
                                  .error = EPERM,
                                  .reason = "the session's network is closed"}}};
}

// A receipt is made from the whole plan.
SandboxResult<Plan> plan_for(const AbsPath& records, const Entry& entry, const Call& call) {
  if (call.options.receipt) {
    HARN_SESSION_TRY(text, sys::read_file(plan_file({.records = records}, entry.id), longest_plan), io);
    HARN_SESSION_TRY(plan, plan_from_json(text), json);
    return plan;
  }
  Plan plan{.backend = entry.plan_backend, .profile = entry.profile};
  plan.limits = entry.limits;
  if (!entry.watched_names.empty()) plan.coverage.gaps.push_back({.code = "absent_protected_name", .paths = entry.watched_names});
  return plan;
}

SandboxResult<Outcome> run_kept(const AbsPath& records, const Entry& entry, const embed::Environment& environment, Call call) {
  Policy policy;
  policy.env = entry.env;
  policy.blocked_commands = entry.blocked_commands;
  HARN_SESSION_OK(embed::check_not_blocked(policy, call.argv), exec);
  for (const auto& [name, value] : call.env) policy.env.set.insert_or_assign(name, value);
  HARN_SESSION_TAKE(plan, plan_for(records, entry, call));
  // Its group ends with it, and everybody in it.
  if (call.keeps_processes && !plan.limits.cgroup.empty())
    return unsupported(entry.backend, "processes that outlive a command with limits of its own",
                       "leave --keep out, or limit the session as a whole (--total-memory, --total-procs)");
  plan.argv = std::move(call.argv);
  HARN_SESSION_TAKE(cwd, place_inside(inside_of(entry), call.cwd));
  plan.cwd = std::move(cwd);
  plan::plan_environment(policy, {.environment = environment}, plan);
  const bool hosts = !entry.relay_secret.empty();
  if (hosts) plan::point_proxies_at(policy, EgressPlan{}.relay_port, plan);
  for (const auto& [name, value] : entry.env_added)
    if (!call.env.contains(name)) plan.env.variables.insert_or_assign(name, value);
  shorten(plan.limits.wall_time_ms, call.timeout);
  sandbox::Joined joined{.directory = entry.socket,
                         .keeps_processes = call.keeps_processes,
                         .plan_digest = entry.plan_digest,
                         .narrower = narrower(entry),
                         .own_terminal = call.own_terminal,
                         .cgroups = entry.cgroups,
                         .line = call.line};
  if (hosts) joined.relay = sandbox::RelayAddress{.directory = entry.socket, .secret = entry.relay_secret};
  for (const auto& name : entry.proofs)
    if (const auto dimension = base::enum_value<Dimension>(name)) joined.proofs.push_back(*dimension);
  call.options.workspace = entry.workspace_roots;
  auto outcome = sandbox::run_joined(plan, call.options, joined);
  if (outcome && call.options.receipt) outcome->receipt.layers["sleep"] = entry.sleep;
  if (outcome) return std::move(*outcome);
  const auto& error = outcome.error();
  if (error.os_error == ECONNREFUSED || (error.os_error == ENOENT && error.stage == Stage::prepare)) return keeper_gone(entry);
  return std::unexpected(from(std::move(outcome).error(), Kind::exec));
}

// Without a view there is nothing to keep: every command gets its boundary anew, and holds the session meanwhile.
SandboxResult<Outcome> run_anew(const Places& places, const Ready& ready, const embed::Environment& environment, Call call, Policy policy) {
  // Before anybody looks which hosts are named: what is said from here on is heard by its relay.
  HARN_SESSION_TAKE(control, OwnControl::open(places, ready.record));
  HARN_SESSION_TAKE(record, live(places, ready.record.id));
  if (ready.record.suspended) HARN_SESSION_PASS(wake(places, ready.record.id));
  const sys::UniqueFd busy(::open(busy_file(places, ready.record.id).text().c_str(), O_RDONLY | O_CLOEXEC));
  if (!busy || ::flock(busy.get(), LOCK_SH) != 0) return not_found(ready.record.id);
  HARN_SESSION_TAKE(cwd, place_inside(inside_of(ready), call.cwd));
  HARN_SESSION_TAKE(wanted, policy_in_force(record, std::move(policy)));
  HARN_SESSION_TRY(sandbox, Sandbox::open(std::move(wanted), {.environment = environment, .cwd = cwd}, {.egress = record.egress}), exec);
  HARN_SESSION_TRY(plan, sandbox.plan({.argv = call.argv, .cwd = cwd, .environment = environment}), exec);
  if (plan.refusal) return fail_with(Kind::exec, plan.refusal->message, plan.refusal->hint);
  shorten(plan.limits.wall_time_ms, call.timeout);
  call.options.canary = embed::make_canary(environment);
  call.options.nameservers = record.nameservers;
  call.options.relay_control = {.listener = control.listener(), .secret = record.relay_secret};
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

namespace {

SandboxResult<Way> read_way(const Places& places, const std::string& id, const AbsPath& home) {
  const auto mark = mark_of(place_of(places, id));
  Ready out;
  HARN_SESSION_TAKE(record, live(places, id));
  HARN_SESSION_TRY(policy, parse_policy_json(record.policy, {.home = home}), json);
  out.policy = std::move(policy);
  HARN_SESSION_TRY(text, sys::read_file(exec_file(places, id), longest_plan), io);
  HARN_SESSION_TRY(plan, plan_from_json(text), json);
  out.light = std::move(plan);
  out.record = std::move(record);
  if (!out.record.kept) return out;
  auto entry = entry_of(out.record, out.policy, out.light);
  if (mark) keep_entry(place_of(places, id), entry, *mark);
  return entry;
}

}  // namespace

SandboxResult<Way> way_into(const embed::Environment& environment, const std::string& id) {
  HARN_SESSION_PASS(check_id(id));
  if (auto entry = find_entry(records_for(environment).join(id))) return std::move(*entry);
  return read_way(places_for(environment), id, embed::home_of(environment));
}

const std::string& backend_of(const Way& way) {
  const auto* entry = std::get_if<Entry>(&way);
  return entry != nullptr ? entry->backend : std::get<Ready>(way).record.backend;
}

const std::vector<AbsPath>& workspace_of(const Way& way) {
  const auto* entry = std::get_if<Entry>(&way);
  return entry != nullptr ? entry->workspace_roots : entries(std::get<Ready>(way).policy.workspace_roots);
}

Profile profile_of(const Way& way) {
  const auto* entry = std::get_if<Entry>(&way);
  return entry != nullptr ? entry->profile : std::get<Ready>(way).policy.profile();
}

void get_ready(const Way& way, run::Line& line) {
  if (const auto* entry = std::get_if<Entry>(&way)) line.prepare(entry->socket);
}

SandboxResult<Outcome> run_in(const Way& way, const embed::Environment& environment, Call call) {
  HARN_SESSION_PASS(check_call(call));
  if (const auto* entry = std::get_if<Entry>(&way)) return run_kept(records_for(environment), *entry, environment, std::move(call));
  const auto& ready = std::get<Ready>(way);
  HARN_SESSION_OK(embed::check_not_blocked(ready.policy, call.argv), exec);
  auto policy = ready.policy;
  for (const auto& [name, value] : call.env) policy.env.set.insert_or_assign(name, value);
  const auto places = places_for(environment);
  if (!ready.record.contained()) return run_anew(places, ready, environment, std::move(call), std::move(policy));
  HARN_SESSION_TAKE(cwd, place_inside(inside_of(ready), call.cwd));
  return run_contained(places, ready, environment, std::move(call), std::move(policy), std::move(cwd));
}

}  // namespace harn::session

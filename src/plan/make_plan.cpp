// SPDX-License-Identifier: Apache-2.0
// From a policy, a command and the facts of a host to the plan: pure, on any host, for any platform.
// The file to read first: check, route, choose a backend, let it lower, judge the coverage.
#include <algorithm>

#include "base/text.h"
#include "plan/coverage.h"
#include "plan/environment.h"
#include "plan/linux/guest_mounts.h"
#include "plan/linux/overlay.h"
#include "plan/names.h"
#include "plan/route.h"
#include "plan/wasi/lower_wasi.h"
#include "policy/presets.h"
#include "policy/roots_text.h"

namespace harn {
namespace {

using plan::BackendRow;
using plan::PlanInput;

Error refused_command(std::string message, std::string hint) {
  return {.code = ErrorCode::refused, .stage = Stage::plan, .message = std::move(message), .hint = std::move(hint)};
}

Status check_may_run(const Policy& policy, const Command& command) {
  if (command.argv.empty() || command.argv.front().empty())
    return fail(Error{
        .code = ErrorCode::invalid_command, .stage = Stage::plan, .message = "the command is empty", .hint = "name a program after --"});
  for (const auto& word : command.argv)
    if (word.find('\0') != std::string::npos)
      return fail(Error{.code = ErrorCode::invalid_command,
                        .stage = Stage::plan,
                        .message = "the argument " + base::quoted(word) + " contains a NUL byte",
                        .hint = "remove it"});
  if (policy.may_exec()) return {};
  if (policy.level() < SideEffectLevel::process_exec)
    return fail(refused_command(
        "the policy does not allow running commands: side_effect_level is '" + std::string(base::enum_name(policy.level())) + "'",
        "set side_effect_level = \"process_exec\""));
  return fail(refused_command("the policy does not allow running commands: capabilities.process lacks 'exec'",
                              "add process = [\"exec\"] to capabilities"));
}

Status check_cwd(const Policy& policy, const AbsPath& cwd) {
  const auto inside = [&](const std::vector<AbsPath>& roots) {
    return std::any_of(roots.begin(), roots.end(), [&](const AbsPath& root) { return root.contains(cwd); });
  };
  if (inside(entries(policy.workspace_roots)) || inside(entries(policy.read_only_roots))) return {};
  return fail(
      refused_command("sandbox violation: process cwd '" + cwd.text() + "' is outside workspace_roots [" + policy::roots_text(policy) + "]",
                      "use --cwd with a directory inside, or add the directory with --write or --read"));
}

Status check_roots_exist(const Policy& policy, const HostFacts& facts) {
  const auto check = [&](std::string_view member, const std::vector<AbsPath>& roots) -> Status {
    for (const auto& root : roots)
      if (!facts.exists(root))
        return fail(Error{.code = ErrorCode::invalid_policy,
                          .stage = Stage::plan,
                          .message = std::string(member) + " names '" + root.text() + "', which does not exist",
                          .hint = "create it, or remove it from the policy"});
    return {};
  };
  HARN_OK(check("workspace_roots", entries(policy.workspace_roots)));
  HARN_OK(check("read_only_roots", entries(policy.read_only_roots)));
  HARN_OK(check("process_sandbox.read_roots", entries(policy.process_sandbox.read_roots)));
  return check("process_sandbox.write_roots", entries(policy.process_sandbox.write_roots));
}

// A credential entry that lifts nothing is a mistake somebody believes in.
Status check_credentials(const Policy& policy, const HostFacts& facts) {
  if (entries(policy.process_sandbox.credentials).empty()) return {};
  std::set<AbsPath> known;
  for (auto& credential : policy::credential_paths(facts)) known.insert(std::move(credential.path));
  for (const auto& path : entries(policy.process_sandbox.credentials)) {
    if (known.contains(path)) continue;
    std::string near;
    for (const auto& candidate : known)
      if (candidate.contains(path) || path.contains(candidate)) near = candidate.text();
    return fail(Error{.code = ErrorCode::invalid_policy,
                      .stage = Stage::plan,
                      .message = "process_sandbox.credentials names '" + path.text() + "', which is not a built-in credential path",
                      .hint = near.empty() ? "use process_sandbox.read_roots for other paths" : "the built-in path is '" + near + "'"});
  }
  return {};
}

// A socket entry makes its path appear inside, so it must be a socket and nothing that is closed.
Status check_sockets(const Policy& policy, const HostFacts& facts) {
  if (entries(policy.process_sandbox.unix_sockets).empty()) return {};
  const auto wrong = [](const AbsPath& path, std::string_view why) {
    return fail(Error{.code = ErrorCode::invalid_policy,
                      .stage = Stage::plan,
                      .message = "process_sandbox.unix_sockets names '" + path.text() + "', which " + std::string(why),
                      .hint = "name the socket itself, or use read_roots for files and directories"});
  };
  const auto credentials = policy::credential_paths(facts);
  for (const auto& socket : entries(policy.process_sandbox.unix_sockets)) {
    const auto kind = facts.kind_of(socket.path);
    if (kind == PathKind::missing) return wrong(socket.path, "does not exist");
    if (kind != PathKind::socket) return wrong(socket.path, "is not a socket");
    const auto& exposed = entries(policy.process_sandbox.credentials);
    for (const auto& credential : credentials)
      if (credential.path.contains(socket.path) && std::find(exposed.begin(), exposed.end(), credential.path) == exposed.end())
        return wrong(socket.path, "lies in the credential path '" + credential.path.text() + "'");
    for (const auto& denied : policy.process_sandbox.read_deny_roots)
      if (denied.contains(socket.path)) return wrong(socket.path, "lies in the denied '" + denied.text() + "'");
  }
  return {};
}

// What is the same for every backend. Made anew for each that is tried: mostly that is one.
Plan blank_plan(const Policy& policy, const Command& command, const HostFacts& facts) {
  Plan out;
  out.profile = policy.profile();
  out.host = facts.name;
  out.policy_digest = digest(policy);
  out.argv = command.argv;
  out.cwd = command.cwd.value_or(facts.cwd);
  plan::plan_environment(policy, command, out, facts.platform);
  return out;
}

// A session can be idle; a single command that waits cannot be told from one that works.
void name_idle_timeout(const Policy& policy, Coverage& coverage) {
  if (!policy.limits.idle_timeout) return;
  plan::open_gap(coverage,
                 {.dimension = Dimension::wall_time,
                  .code = "idle_timeout",
                  .paths = {},
                  .detail = "idle_timeout ends idle sessions; it does not end a single command",
                  .remedy = "set wall_time"},
                 Enforcement::degraded);
}

// Asked for and not given must not look alike from inside.
Error no_publishing(Backend backend) {
  const auto who =
      backend == Backend::noop ? std::string("nothing on this host") : "backend '" + std::string(base::enum_name(backend)) + "'";
  return {.code = ErrorCode::not_supported,
          .stage = Stage::plan,
          .message = who + (backend == Backend::noop ? " can" : " cannot") + " show a port of the command on your loopback (--publish)",
          .hint =
              "that takes the backend 'linux' with network namespaces ('harn doctor'); with --net allowed the command listens on your "
              "loopback itself"};
}

Result<Plan> lower_with(const BackendRow& row, const PlanInput& input) {
  Plan out = blank_plan(input.policy, input.command, input.facts);
  out.backend = row.backend;
  HARN_OK(row.lower(input, out));
  if (!input.egress.publish.empty() && (!out.egress || out.egress->publish.empty())) return fail(no_publishing(row.backend));
  name_idle_timeout(input.policy, out.coverage);
  plan::settle(out.coverage, input.policy);
  return out;
}

bool is_container(Backend backend) { return backend == Backend::docker || backend == Backend::podman; }

std::string holes_text(const Coverage& coverage) {
  std::vector<std::string> names;
  for (const auto dimension : plan::holes(coverage)) names.emplace_back(base::enum_name(dimension));
  return "leaves " + base::join(names, ", ") + " unenforced";
}

// The first usable backend that leaves nothing open; where none does, the first usable one. A
// container has its own root file system, so it is only taken when nothing else works at all.
Result<Plan> choose(const PlanInput& input) {
  std::vector<TriedBackend> tried;
  std::optional<Plan> best;
  for (const auto& row : plan::backends()) {
    if (!row.in_auto || row.platform != input.facts.platform) continue;
    if (best && is_container(row.backend)) break;
    if (auto why = row.why_unusable(input.facts); !why.empty()) {
      tried.push_back({row.backend, std::move(why)});
      continue;
    }
    auto candidate = lower_with(row, input);
    if (!candidate && candidate.error().code != ErrorCode::not_supported) return candidate;
    if (!candidate) {
      tried.push_back({row.backend, candidate.error().message});
      continue;
    }
    const bool complete = plan::holes(candidate->coverage).empty();
    if (!complete) tried.push_back({row.backend, holes_text(candidate->coverage)});
    if (complete || !best) best = std::move(*candidate);
    if (complete) break;
  }
  if (!best) {
    HARN_TRY(nothing, lower_with(plan::row_of(Backend::noop), input));
    best = std::move(nothing);
  }
  std::erase_if(tried, [&](const TriedBackend& entry) { return entry.backend == best->backend; });
  best->tried = std::move(tried);
  return std::move(*best);
}

Result<Plan> use_named(Backend backend, const PlanInput& input) {
  const auto& row = plan::row_of(backend);
  const auto name = std::string(base::enum_name(backend));
  if (backend != Backend::noop && row.platform != input.facts.platform)
    return fail(Error{.code = ErrorCode::not_available,
                      .stage = Stage::plan,
                      .message = "backend '" + name + "' does not exist on " + std::string(base::enum_name(input.facts.platform)),
                      .hint = "use --backend auto"});
  if (auto why = row.why_unusable(input.facts); !why.empty())
    return fail(Error{.code = ErrorCode::not_available,
                      .stage = Stage::plan,
                      .message = "backend '" + name + "' was asked for, but " + why,
                      .hint = "use --backend auto, or see 'harn doctor'"});
  return lower_with(row, input);
}

Error no_module_without_sandbox() {
  return {.code = ErrorCode::refused,
          .stage = Stage::plan,
          .message = "profile 'wasi' runs a module's runtime inside a sandbox, and the sandbox is switched off",
          .hint = "leave --no-sandbox and --sandbox none out"};
}

Error no_module_in_container(Backend backend) {
  return {.code = ErrorCode::not_supported,
          .stage = Stage::plan,
          .message = "profile 'wasi' uses this host's runtime, and backend '" + std::string(base::enum_name(backend)) +
                     "' brings its own programs",
          .hint = "leave --backend out, or name linux"};
}

Error no_overlay_without_sandbox() {
  return {.code = ErrorCode::refused,
          .stage = Stage::plan,
          .message = "--overlay needs a sandbox: a command that runs directly changes the workspace itself",
          .hint = "leave one of them out"};
}

Result<Plan> plan_direct(const Policy& policy, const Command& command, const HostFacts& facts, const PlanOptions& options) {
  Plan out = blank_plan(policy, command, facts);
  out.route = Route::direct;
  if (policy.profile() == Profile::unrestricted && !options.no_sandbox) {
    // Nothing was asked for, so nothing is missing; the environment is still the policy's.
    out.coverage = {};
    plan::enforced_by(out.coverage, Dimension::env, "launcher");
    return out;
  }
  plan::settle(out.coverage, policy, "the command runs directly, without confinement");
  out.notes.emplace_back(options.no_sandbox ? "the operator switched the sandbox off"
                                            : "HARN_HANDLER_SANDBOX=off: running without confinement");
  return out;
}

Result<Plan> plan_confined(const PlanInput& input, const PlanOptions& options) {
  HARN_TRY(chosen, options.backend ? use_named(*options.backend, input) : choose(input));
  plan::apply_gate(input.policy, options, chosen);
  HARN_OK(plan::show_guests(options.guests, chosen));
  if (options.overlay) HARN_OK(plan::lay_over(input.policy, {*options.overlay, options.overlay_all, options.guests}, chosen));
  return chosen;
}

// The runtime is confined like any command; only what it is told, and what it gets as variables, is the module's.
Result<Plan> plan_module(const PlanInput& input, const PlanOptions& options) {
  HARN_TRY(run, plan::lower_wasi(input, options.wasi_runtime));
  const PlanInput native{.policy = run.policy,
                         .command = run.command,
                         .facts = input.facts,
                         .rules = input.rules,
                         .egress = input.egress,
                         .explain = input.explain,
                         .record = input.record,
                         .guests = input.guests};
  HARN_TRY(out, plan_confined(native, options));
  if (is_container(out.backend)) return fail(no_module_in_container(out.backend));
  out.policy_digest = digest(input.policy);
  out.env.removed = std::move(run.removed);
  out.wasi = std::move(run.wasi);
  plan::cover_wasi(*out.wasi, out);
  if (out.route == Route::confined) out.route = Route::wasi;
  return out;
}

// `rules` are the caller's, or made once they are needed.
Result<Plan> plan_rooted(const Policy& policy, const Command& command, const HostFacts& facts, const PlanOptions& options,
                         const PathRules* rules) {
  HARN_OK(validate(policy));
  HARN_OK(check_may_run(policy, command));
  HARN_OK(plan::check_ceiling(policy, options));
  const auto route = plan::route_of(policy, options);
  if (route == Route::wasi && options.no_sandbox) return fail(no_module_without_sandbox());
  if (route == Route::direct && options.overlay) return fail(no_overlay_without_sandbox());
  if (route == Route::direct) return plan_direct(policy, command, facts, options);

  HARN_OK(check_roots_exist(policy, facts));
  HARN_OK(check_credentials(policy, facts));
  HARN_OK(check_sockets(policy, facts));
  HARN_OK(check_cwd(policy, command.cwd.value_or(facts.cwd)));
  std::optional<PathRules> made;
  if (rules == nullptr) rules = &made.emplace(PathRules::for_processes(policy, facts));
  const PlanInput input{.policy = policy,
                        .command = command,
                        .facts = facts,
                        .rules = *rules,
                        .egress = options.egress,
                        .explain = options.explain,
                        .record = options.record,
                        .ask = options.ask,
                        .hosts_later = options.hosts_later,
                        .guests = &options.guests};

  if (route == Route::wasi) return plan_module(input, options);
  return plan_confined(input, options);
}

}  // namespace

Result<Plan> make_plan(const Policy& policy, const Command& command, const HostFacts& facts, const PlanOptions& options) {
  if (policy.workspace_roots) return plan_rooted(policy, command, facts, options, nullptr);
  // From here on the workspace is known.
  return plan_rooted(with_project_root(policy, facts.project_root), command, facts, options, nullptr);
}

Result<Plan> make_plan(const Policy& policy, const Command& command, const HostFacts& facts, const PlanOptions& options,
                       const PathRules& rules) {
  return plan_rooted(policy, command, facts, options, &rules);
}

}  // namespace harn

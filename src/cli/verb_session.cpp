// SPDX-License-Identifier: Apache-2.0
// harn session …: a sandbox that stays, and what is done with it.
#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/load.h"
#include "cli/prepare.h"
#include "cli/render.h"
#include "cli/run_audit.h"
#include "cli/session_audit.h"
#include "cli/verbs.h"
#include "embed/ready.h"
#include "host/user_files.h"
#include "session/attach.h"
#include "session/errors.h"
#include "session/exec.h"
#include "session/lent_terminal.h"
#include "session/life.h"
#include "session/names.h"
#include "session/network.h"
#include "session/provision.h"
#include "session/snapshots.h"
#include "session/wire.h"

namespace harn::cli {
namespace {

using base::Value;

session::Places places_of(const Caller& caller) { return session::places_for(caller.environment); }

// What a session says, as every verb says it.
Error worded(const SandboxError& error) {
  using K = SandboxErrorKind;
  Error out{
      .code = ErrorCode::refused, .stage = Stage::prepare, .os_error = error.os_error, .message = describe(error), .hint = error.hint};
  if (error.kind == K::invalid_request || error.kind == K::json) out.code = ErrorCode::invalid_command;
  if (error.kind == K::session_not_found) out.code = ErrorCode::not_available;
  if (error.kind == K::unsupported) out.code = ErrorCode::not_supported;
  // A command that is not there, or none: the exit code says so, as it does for harn run.
  if (error.kind == K::exec && error.os_error != 0)
    out = {
        .code = ErrorCode::invalid_command, .stage = Stage::spawn, .os_error = error.os_error, .message = error.detail, .hint = error.hint};
  return out;
}

template <class T>
Result<T> said(SandboxResult<T> result) {
  if constexpr (std::is_void_v<T>) {
    if (result) return {};
  } else {
    if (result) return std::move(*result);
  }
  return fail(worded(result.error()));
}

std::string json_text(const Value& value) { return base::print_json(value, 2) + "\n"; }

// "SOURCE:TARGET", "SOURCE:TARGET:rw", or ":TARGET" for a fresh directory.
Result<FilesystemMount> mount_argument(const std::string& text, const PathContext& context) {
  auto words = base::split(text, ':');
  FilesystemMount out;
  if (words.size() == 3 && (words[2] == "ro" || words[2] == "rw")) {
    if (words[2] == "rw") out.access = FilesystemAccess::read_write;
    words.pop_back();
  }
  if (words.size() != 2)
    return wrong_usage(fmt::format("{} is no mount", base::quoted(text)), "write SOURCE:TARGET, and :rw behind it where it may be written");
  if (!words[0].empty()) {
    HARN_TRY(source, path_argument(words[0], context));
    out.source = source.text();
  }
  out.target = words[1];
  return out;
}

Status add_directory(const Arguments& arguments, std::string_view option, std::string_view target, FilesystemAccess access,
                     const PathContext& context, SandboxSpec& spec) {
  const auto* text = arguments.value(option);
  if (text == nullptr) return {};
  HARN_TRY(source, path_argument(*text, context));
  spec.mounts.push_back({.source = source.text(), .target = std::string(target), .access = access});
  return {};
}

Result<std::optional<std::chrono::milliseconds>> time_option(const Arguments& arguments, std::string_view option) {
  const auto* text = arguments.value(option);
  if (text == nullptr) return std::optional<std::chrono::milliseconds>();
  const auto time = base::parse_duration(*text);
  if (!time)
    return wrong_usage(fmt::format("--{}: {} is no time", option, base::quoted(*text)), "write a number and a unit, such as 30s or 10m");
  return std::optional<std::chrono::milliseconds>(*time);
}

Result<SandboxSpec> spec_from(const Arguments& arguments, const PathContext& context) {
  SandboxSpec spec;
  if (const auto* id = arguments.value("id")) spec.session_id = SandboxSessionId{*id};
  for (const auto& label : arguments.all("label")) {
    const auto equals = label.find('=');
    if (equals == 0 || equals == std::string::npos)
      return wrong_usage(fmt::format("{} is no label", base::quoted(label)), "write NAME=VALUE");
    spec.labels.insert_or_assign(label.substr(0, equals), label.substr(equals + 1));
  }
  HARN_OK(add_directory(arguments, "memory-dir", memory_mount, FilesystemAccess::read_only, context, spec));
  HARN_OK(add_directory(arguments, "outputs-dir", outputs_mount, FilesystemAccess::read_write, context, spec));
  for (const auto& text : arguments.all("mount")) {
    HARN_TRY(mount, mount_argument(text, context));
    spec.mounts.push_back(std::move(mount));
  }
  HARN_TRY(idle, time_option(arguments, "idle-timeout"));
  if (idle) spec.limits.idle_timeout = *idle;
  return spec;
}

// The directory its commands start in: where the caller is, as far as they may be there.
AbsPath root_for(const Prepared& prepared) {
  const auto& cwd = prepared.command.cwd.value_or(prepared.facts.cwd);
  const auto& roots = entries(prepared.policy.workspace_roots);
  if (roots.empty() || std::ranges::any_of(roots, [&](const AbsPath& root) { return root.contains(cwd); })) return cwd;
  return roots.front();
}

Reply answer_session(const session::Record& record, const Arguments& arguments, const Caller& caller, std::string text) {
  if (arguments.has("json")) return {.out = json_text(session::value_of(session::session_of(places_of(caller), record)))};
  return {.out = std::move(text)};
}

session::MountGround ground_of(const session::Places& places, const HostFacts& facts, const Caller& caller) {
  return {.places = places, .facts = facts, .own_state = state_directory(caller)};
}

std::string age_text(std::uint64_t created_ms) {
  const auto seconds = (session::now_ms() - std::min(session::now_ms(), created_ms)) / 1000;
  if (seconds < 120) return fmt::format("{}s", seconds);
  if (seconds < 7200) return fmt::format("{}m", seconds / 60);
  return seconds < 172800 ? fmt::format("{}h", seconds / 3600) : fmt::format("{}d", seconds / 86400);
}

}  // namespace

Result<Reply> session_create(const Arguments& arguments, const Caller& caller) {
  RunAudit audit(arguments, caller);
  HARN_TRY(prepared, prepare(arguments, caller, audit.settings()));
  HARN_TRY(spec, spec_from(arguments, prepared.context));
  auto policy = prepared.policy;
  // The weakest profile is not written out in a policy, but it was named.
  if (!policy.sandbox_profile && !arguments.has("profile")) policy.sandbox_profile = Profile::os_hardened;
  spec.network_policy = session::network_of(policy);
  HARN_TRY(lifetime, time_option(arguments, "lifetime"));
  HARN_TRY(together, total_limits_from(arguments));
  const auto places = places_of(caller);
  const auto ground = ground_of(places, prepared.facts, caller);
  HARN_TRY(record, said(session::provision({.spec = spec,
                                            .policy = std::move(policy),
                                            .root = root_for(prepared),
                                            .options = prepared.options,
                                            .lifetime = lifetime,
                                            .together = together,
                                            .together_or_none = together != Limits{},
                                            .image = prepared.command.image,
                                            .whole_process = true,
                                            .environment = caller.environment,
                                            .ground = ground})));
  HARN_OK(tell_audit(audit, AuditEventType::session_provisioned, record, {}));
  Reply reply = answer_session(record, arguments, caller, record.id + "\n");
  if (!record.kept && !record.contained())
    reply.err =
        "harn: note: without user namespaces every command of the session is confined anew, guest paths such as /mnt/memory do not\n"
        "  exist inside (HARN_MEMORY_DIR and HARN_OUTPUTS_DIR name the places), and nothing is left to suspend\n";
  return reply;
}

Result<Reply> session_list(const Arguments& arguments, const Caller& caller) {
  const auto places = places_of(caller);
  HARN_TRY(names, said(session::ids(places)));
  base::Array all;
  std::string text;
  for (const auto& name : names) {
    const auto record = session::load(places, name);
    if (!record) {
      text += fmt::format("{:<24} unreadable   {}\n", name, describe(record.error()));
      continue;
    }
    const auto session = session::session_of(places, *record);
    all.push_back(session::value_of(session));
    text +=
        fmt::format("{:<24} {:<12} {:>4}  {}\n", name, base::enum_name(session.state), age_text(record->created_ms), record->root.text());
  }
  if (arguments.has("json")) return Reply{.out = json_text(all)};
  return Reply{.out = text};
}

Result<Reply> session_show(const Arguments& arguments, const Caller& caller) {
  HARN_TRY(record, said(session::load(places_of(caller), arguments.operands().front())));
  const auto session = session::session_of(places_of(caller), record);
  std::string text = fmt::format("{}  {}\n", record.id, base::enum_name(session.state));
  for (const auto& [name, value] : session.metadata) text += fmt::format("  {:<12} {}\n", name, base::one_line(value));
  for (const auto& mount : session.mounts)
    text += fmt::format("  {:<28} {:<10} {}\n", mount.target, base::enum_name(mount.access), mount.host_path.value_or("-"));
  return answer_session(record, arguments, caller, text);
}

Result<Reply> session_exec(const Arguments& arguments, const Caller& caller) {
  const auto& operands = arguments.operands();
  session::Call call{.keeps_processes = arguments.has("keep")};
  call.argv.assign(operands.begin() + 1, operands.end());
  if (!call.argv.empty() && call.argv.front() == "--") call.argv.erase(call.argv.begin());
  HARN_TRY(way, said(session::way_into(caller.environment, operands.front())));
  run::Line line(/*lasting=*/false);
  session::get_ready(way, line);
  call.line = &line;
  if (const auto* cwd = arguments.value("cwd")) call.cwd = *cwd;
  else if (std::ranges::any_of(session::workspace_of(way), [&](const AbsPath& root) { return root.contains(caller.cwd); }))
    call.cwd = caller.cwd.text();
  for (const auto& text : arguments.all("env")) {
    const auto equals = text.find('=');
    if (equals == std::string::npos) return wrong_usage(fmt::format("--env {} has no value", base::quoted(text)), "write NAME=VALUE");
    call.env.insert_or_assign(text.substr(0, equals), text.substr(equals + 1));
  }
  HARN_TRY(timeout, time_option(arguments, "timeout"));
  if (timeout) call.timeout = *timeout;
  RunAudit audit(arguments, caller);
  audit.use_profile(session::profile_of(way));
  const bool json = arguments.has("json");
  const auto* receipt = arguments.value("receipt");
  std::optional<host::HeldPlace> place;
  if (receipt != nullptr) {
    HARN_TRY(path, path_argument(*receipt, path_context(caller)));
    HARN_TRY(opened, host::HeldPlace::open(path));
    place = std::move(opened);
  }
  call.options = {.whole_process = true, .receipt = json || place};
  if (json) call.options.streams = {Stream::inherit, Stream::capture, Stream::capture};
  audit.fill(call.options);
  if (!audit.is_off()) call.options.secrets = embed::secrets_in({}, caller.environment);
  const auto argv = call.argv;
  std::optional<session::LentTerminal> terminal;
  const auto* ready = std::get_if<session::Ready>(&way);
  if (arguments.has("tty") && (ready == nullptr || !ready->record.contained())) {
    if (json) return wrong_usage("-t and --json exclude each other: a terminal's output cannot be captured", "leave one of them out");
    if (ready != nullptr)
      return wrong_usage("-t needs a session that is kept", "without user namespaces commands have this terminal as it is");
    HARN_TRY(opened, session::LentTerminal::open());
    terminal.emplace(std::move(opened));
    call.own_terminal = true;
  }
  auto ran = said(session::run_in(way, caller.environment, std::move(call)));
  terminal.reset();
  if (!ran) audit.refused(ran.error(), argv);
  HARN_TRY(outcome, std::move(ran));
  const auto told = place ? place->keep(receipt_to_json(outcome.receipt) + "\n") : Status();
  auto reply = reply_for(std::move(outcome), caller, json);
  if (!told) reply.err += fmt::format("harn: warning: the command ran, but its receipt could not be kept: {}\n", told.error().message);
  if ((!told || audit.end_is_missing()) && reply.exit_code == 0) reply.exit_code = exit_no;
  return reply;
}

Result<Reply> session_mount(const Arguments& arguments, const Caller& caller) {
  RunAudit audit(arguments, caller);
  HARN_TRY(mount, mount_argument(arguments.operands()[1], path_context(caller)));
  HARN_TRY(facts, proved_facts(caller));
  const auto places = places_of(caller);
  HARN_TRY(record,
           said(session::attach(places, arguments.operands().front(), mount, ground_of(places, facts, caller), caller.environment)));
  HARN_OK(tell_audit(audit, AuditEventType::session_mounted, record, mount.target));
  const auto& shown = record.mounts.back();
  return answer_session(record, arguments, caller,
                        fmt::format("{} is {} ({})\n", shown.target.text(), shown.source.text(), base::enum_name(shown.access)));
}

Result<Reply> session_network(const Arguments& arguments, const Caller& caller) {
  RunAudit audit(arguments, caller);
  const auto& mode = arguments.operands()[1];
  NetworkPolicy policy{.unrestricted = mode == "allowed", .allowed_hosts = arguments.all("allow-host")};
  if (mode != "allowed" && mode != "none" && mode != "restricted")
    return wrong_usage(fmt::format("{} is no network", base::quoted(mode)), "use none, restricted or allowed");
  if (mode == "restricted" && policy.allowed_hosts.empty())
    return wrong_usage("a restricted network names its hosts", "add --allow-host HOST");
  HARN_TRY(record, said(session::change_network(
                       places_of(caller), arguments.operands().front(),
                       {.policy = policy, .home = embed::home_of(caller.environment), .environment = caller.environment})));
  HARN_OK(tell_audit(audit, AuditEventType::session_network_applied, record, mode));
  return answer_session(record, arguments, caller, fmt::format("the network of {} is {}\n", record.id, mode));
}

Result<Reply> session_snapshot(const Arguments& arguments, const Caller& caller) {
  const auto places = places_of(caller);
  const auto line = [](const SandboxSnapshot& one) {
    return fmt::format("{:<24} of {:<20} {} files, {} bytes, {} new\n", one.snapshot_id, one.session_id.value, one.metadata.at("files"),
                       one.metadata.at("bytes"), one.metadata.at("new_bytes"));
  };
  if (arguments.has("list")) {
    HARN_TRY(all, said(session::snapshots(places)));
    base::Array values;
    std::string text;
    for (const auto& one : all) {
      values.push_back(session::value_of(one));
      text += line(one);
    }
    return Reply{.out = arguments.has("json") ? json_text(values) : text};
  }
  if (const auto* name = arguments.value("remove")) {
    HARN_OK(said(session::remove_snapshot(places, *name)));
    return Reply{.out = fmt::format("removed {}\n", *name)};
  }
  if (arguments.operands().empty()) return wrong_usage("which session is to be kept is not said", "name it, or use --list");
  RunAudit audit(arguments, caller);
  const auto* name = arguments.value("name");
  HARN_TRY(taken, said(session::take_snapshot(places, arguments.operands().front(), name == nullptr ? "" : *name)));
  HARN_TRY(record, said(session::load(places, arguments.operands().front())));
  HARN_OK(tell_audit(audit, AuditEventType::session_snapshot, record, taken.snapshot_id));
  return Reply{.out = arguments.has("json") ? json_text(session::value_of(taken)) : line(taken)};
}

Result<Reply> session_restore(const Arguments& arguments, const Caller& caller) {
  HARN_TRY(restored, said(session::restore_snapshot(places_of(caller), arguments.operands()[1], arguments.operands().front())));
  const auto& record = restored.record;
  auto text = fmt::format("{} is as it was in {}\n", record.id, arguments.operands()[1]);
  if (!restored.kept.empty()) text += fmt::format("what stood in {} is kept as {}\n", base::quoted(record.root.text()), restored.kept);
  return answer_session(record, arguments, caller, text);
}

Result<Reply> session_suspend(const Arguments& arguments, const Caller& caller) {
  RunAudit audit(arguments, caller);
  HARN_TRY(record, said(session::sleep(places_of(caller), arguments.operands().front())));
  HARN_OK(tell_audit(audit, AuditEventType::session_suspended, record, {}));
  return answer_session(record, arguments, caller, fmt::format("{} sleeps\n", record.id));
}

Result<Reply> session_resume(const Arguments& arguments, const Caller& caller) {
  RunAudit audit(arguments, caller);
  HARN_TRY(record, said(session::wake(places_of(caller), arguments.operands().front())));
  HARN_OK(tell_audit(audit, AuditEventType::session_resumed, record, {}));
  return answer_session(record, arguments, caller, fmt::format("{} is awake\n", record.id));
}

Result<Reply> session_terminate(const Arguments& arguments, const Caller& caller) {
  const auto places = places_of(caller);
  base::Array gone;
  std::string text;
  for (const auto& id : arguments.operands()) {
    RunAudit audit(arguments, caller);
    HARN_TRY(record, said(session::load(places, id)));
    HARN_OK(said(session::end(places, id, arguments.has("discard"))));
    HARN_OK(tell_audit(audit, AuditEventType::session_terminated, record, {}));
    gone.emplace_back(id);
    text += fmt::format("{} is gone\n", id);
  }
  return Reply{.out = arguments.has("json") ? json_text(gone) : text};
}

Result<Reply> session_gc(const Arguments& arguments, const Caller& caller) {
  HARN_TRY(cleared, said(session::collect_garbage(places_of(caller))));
  base::Array values;
  std::string text;
  for (const auto& id : cleared) {
    values.emplace_back(id);
    text += fmt::format("cleared {}\n", id);
  }
  return Reply{.out = arguments.has("json") ? json_text(values) : text};
}

}  // namespace harn::cli

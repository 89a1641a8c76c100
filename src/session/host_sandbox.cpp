// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>
#include <tuple>

#include <fmt/format.h>

#include "audit/event.h"
#include "base/text.h"
#include "embed/ready.h"
#include "plan/names.h"
#include "session/attach.h"
#include "session/errors.h"
#include "session/exec.h"
#include "session/host_sandbox.h"
#include "session/life.h"
#include "session/mounts.h"
#include "session/names.h"
#include "session/network.h"
#include "session/provision.h"
#include "session/snapshots.h"
#include "sys/files.h"

namespace harn {

using session::fail_with;
using session::Kind;

namespace {

Policy policy_of(const SandboxSpec& spec, Profile profile) {
  Policy policy;
  policy.sandbox_profile = profile;
  policy.limits.max_memory_mb = spec.limits.memory_mb;
  if (spec.limits.cpu_count) policy.limits.cpu_milli = *spec.limits.cpu_count * std::uint64_t{1000};
  if (spec.limits.wall_time)
    policy.limits.wall_time = std::max(std::chrono::ceil<std::chrono::milliseconds>(*spec.limits.wall_time), std::chrono::milliseconds(1));
  return policy;
}

// Names are the whole host's; a session of another backend is none of this one's.
std::unexpected<SandboxError> of_another(const std::string& id, const std::string& backend) {
  return session::not_found(id, fmt::format("it belongs to the backend {}", backend));
}

}  // namespace

void HostSandbox::Parts::record(AuditEventType type, const session::Record& about, const std::string& detail) const {
  if (context.audit == nullptr) return;
  base::Value data;
  data.set("session", about.id);
  data.set("backend", about.backend);
  data.set("profile", about.profile);
  if (!detail.empty()) data.set("detail", redacted_text(detail));
  const AuditEvent events[] = {audit::make_event(type, data)};
  std::ignore = context.audit->append(events);
}

SandboxResult<session::Record> HostSandbox::Parts::own(const SandboxSessionId& id) const {
  HARN_SESSION_TAKE(record, session::load(places, id.value));
  if (record.backend != backend) return of_another(id.value, record.backend);
  return record;
}

SandboxResult<std::shared_ptr<const HostSandbox::Parts::Cached>> HostSandbox::Parts::way_into(const std::string& id) {
  HARN_SESSION_PASS(session::check_id(id));
  const auto mark = session::mark_of(session::place_of(places, id));
  const std::scoped_lock alone(lock);
  if (!mark) {
    cache.erase(id);
    return session::not_found(id);
  }
  const auto found = cache.find(id);
  if (found != cache.end() && found->second->mark == *mark) return found->second;
  HARN_SESSION_TAKE(way, session::way_into(context.environment, id));
  if (session::backend_of(way) != backend) return of_another(id, session::backend_of(way));
  auto entry = std::make_shared<const Cached>(Cached{.mark = *mark, .way = std::move(way)});
  cache.insert_or_assign(id, entry);
  return entry;
}

HostSandbox::HostSandbox(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
HostSandbox::HostSandbox(HostSandbox&&) noexcept = default;
HostSandbox& HostSandbox::operator=(HostSandbox&&) noexcept = default;
HostSandbox::~HostSandbox() = default;

std::string_view HostSandbox::name() const { return parts_->backend; }

SandboxResult<SandboxSession> HostSandbox::provision(const SandboxSpec& spec) {
  auto policy = policy_of(spec, parts_->profile);
  HARN_SESSION_PASS(session::allow_network(spec.network_policy, policy));
  const auto ground = parts_->ground();
  HARN_SESSION_TAKE(made,
                    session::provision({.spec = spec,
                                        .policy = std::move(policy),
                                        .root = parts_->root,
                                        .options = parts_->options,
                                        .lifetime = parts_->lifetime,
                                        .together = {.max_memory_mb = policy.limits.max_memory_mb, .cpu_milli = policy.limits.cpu_milli},
                                        .image = parts_->image,
                                        .environment = parts_->context.environment,
                                        .ground = ground}));
  parts_->record(AuditEventType::session_provisioned, made);
  return session::session_of(parts_->places, made);
}

SandboxResult<SandboxSession> HostSandbox::attach_filesystem(const SandboxSessionId& id, const FilesystemMount& mount) {
  HARN_SESSION_PASS(parts_->own(id));
  HARN_SESSION_TAKE(record, session::attach(parts_->places, id.value, mount, parts_->ground(), parts_->context.environment));
  parts_->record(AuditEventType::session_mounted, record, mount.target);
  return session::session_of(parts_->places, record);
}

SandboxResult<SandboxSession> HostSandbox::apply_network_policy(const SandboxSessionId& id, const NetworkPolicy& policy) {
  HARN_SESSION_PASS(parts_->own(id));
  HARN_SESSION_TAKE(record,
                    session::change_network(parts_->places, id.value,
                                            {.policy = policy, .home = parts_->facts.home, .environment = parts_->context.environment}));
  parts_->record(AuditEventType::session_network_applied, record, std::string(session::network_word(policy)));
  return session::session_of(parts_->places, record);
}

SandboxResult<Outcome> HostSandbox::exec_in_full(const SandboxSessionId& id, const ExecRequest& request, const ExecExtras& extras) {
  if (base::trim(request.command).empty()) return fail_with(Kind::invalid_request, "exec command cannot be empty");
  HARN_SESSION_TAKE(cached, parts_->way_into(id.value));
  session::Call call{.argv = {request.command}, .cwd = request.cwd, .env = request.env, .timeout = request.timeout};
  call.argv.insert(call.argv.end(), request.args.begin(), request.args.end());
  call.line = cached->line.get();
  call.options = {.streams = {request.input ? Stream::capture : Stream::empty, Stream::capture, Stream::capture},
                  .input = request.input.value_or(std::string()),
                  .on_output = extras.on_output,
                  .stop_fd = extras.stop == nullptr ? -1 : extras.stop->fd(),
                  .receipt = false,
                  .audit = parts_->context.audit};
  return session::run_in(cached->way, parts_->context.environment, std::move(call));
}

SandboxResult<ExecResult> HostSandbox::exec(const SandboxSessionId& id, const ExecRequest& request) { return exec(id, request, {}); }

SandboxResult<ExecResult> HostSandbox::exec(const SandboxSessionId& id, const ExecRequest& request, const ExecExtras& extras) {
  HARN_SESSION_TAKE(outcome, exec_in_full(id, request, extras));
  return ExecResult{.out = outcome.captured_stdout.value_or(std::string()),
                    .err = outcome.captured_stderr.value_or(std::string()),
                    .exit_code = outcome.timed_out ? -1 : outcome.exit_code,
                    .timed_out = outcome.timed_out};
}

SandboxResult<SandboxSnapshot> HostSandbox::snapshot(const SandboxSessionId& id) {
  HARN_SESSION_TAKE(record, parts_->own(id));
  HARN_SESSION_TAKE(taken, session::take_snapshot(parts_->places, id.value, {}));
  parts_->record(AuditEventType::session_snapshot, record, taken.snapshot_id);
  return taken;
}

SandboxResult<SandboxSession> HostSandbox::restore(const SandboxSnapshot& snapshot, const SandboxSessionId& into) {
  HARN_SESSION_PASS(parts_->own(into));
  HARN_SESSION_TAKE(restored, session::restore_snapshot(parts_->places, snapshot.snapshot_id, into.value));
  return session::session_of(parts_->places, restored.record);
}

SandboxResult<SandboxSession> HostSandbox::resume(const SandboxSessionId& id) {
  HARN_SESSION_PASS(parts_->own(id));
  HARN_SESSION_TAKE(record, session::wake(parts_->places, id.value));
  parts_->record(AuditEventType::session_resumed, record);
  return session::session_of(parts_->places, record);
}

SandboxResult<SandboxSession> HostSandbox::suspend(const SandboxSessionId& id) {
  HARN_SESSION_PASS(parts_->own(id));
  HARN_SESSION_TAKE(record, session::sleep(parts_->places, id.value));
  parts_->record(AuditEventType::session_suspended, record);
  return session::session_of(parts_->places, record);
}

SandboxResult<void> HostSandbox::terminate(const SandboxSessionId& id) {
  HARN_SESSION_TAKE(record, parts_->own(id));
  HARN_SESSION_PASS(session::end(parts_->places, id.value));
  parts_->record(AuditEventType::session_terminated, record);
  return {};
}

SandboxResult<SandboxSession> HostSandbox::find(const SandboxSessionId& id) {
  HARN_SESSION_TAKE(record, parts_->own(id));
  return session::session_of(parts_->places, record);
}

SandboxResult<std::vector<SandboxSession>> HostSandbox::list() {
  HARN_SESSION_TAKE(names, session::ids(parts_->places));
  std::vector<SandboxSession> out;
  for (const auto& name : names)
    if (auto record = parts_->own({name})) out.push_back(session::session_of(parts_->places, *record));
  return out;
}

SandboxResult<std::vector<SandboxSessionId>> HostSandbox::collect_garbage() {
  HARN_SESSION_TAKE(cleared, session::collect_garbage(parts_->places));
  std::vector<SandboxSessionId> out;
  for (auto& id : cleared) out.push_back({std::move(id)});
  return out;
}

}  // namespace harn

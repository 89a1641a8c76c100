// SPDX-License-Identifier: Apache-2.0
// LocalSandbox: the contract kept with this host's own boundary.
#include <sys/stat.h>

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
#include "session/life.h"
#include "session/mounts.h"
#include "session/names.h"
#include "session/provision.h"
#include "session/snapshots.h"
#include "sys/files.h"

namespace harn {

using session::fail_with;
using session::Kind;
using session::Record;

struct LocalSandbox::Parts {
  LocalSandboxConfig config = {};
  HostFacts facts = {};
  session::Places places = {};
  // Sessions whose record has not changed since it was read.
  struct Cached {
    timespec written = {};
    ino_t inode = 0;
    session::Ready ready = {};
  };
  std::mutex lock = {};
  std::map<std::string, std::shared_ptr<const Cached>> cache = {};

  const AbsPath& home() const { return facts.home; }
  session::MountGround ground() const {
    return {.places = places, .facts = facts, .own_state = embed::state_directory(config.context.environment)};
  }

  void record(AuditEventType type, const Record& about, const std::string& detail = {}) const {
    if (config.context.audit == nullptr) return;
    base::Value data;
    data.set("session", about.id);
    data.set("backend", about.backend);
    data.set("profile", about.profile);
    if (!detail.empty()) data.set("detail", redacted_text(detail));
    const AuditEvent events[] = {audit::make_event(type, data)};
    std::ignore = config.context.audit->append(events);
  }

  SandboxResult<std::shared_ptr<const Cached>> ready(const std::string& id) {
    HARN_SESSION_PASS(session::check_id(id));
    struct stat status = {};
    const auto file = session::place_of(places, id).join("session.json").text();
    const std::scoped_lock alone(lock);
    if (::stat(file.c_str(), &status) != 0) {
      cache.erase(id);
      return session::not_found(id);
    }
    const auto found = cache.find(id);
    if (found != cache.end() && found->second->inode == status.st_ino && found->second->written.tv_sec == status.st_mtim.tv_sec &&
        found->second->written.tv_nsec == status.st_mtim.tv_nsec)
      return found->second;
    HARN_SESSION_TAKE(record, session::live(places, id));
    HARN_SESSION_TAKE(made, session::make_ready(places, std::move(record), home()));
    auto entry = std::make_shared<const Cached>(Cached{.written = status.st_mtim, .inode = status.st_ino, .ready = std::move(made)});
    cache.insert_or_assign(id, entry);
    return entry;
  }
};

namespace {

Policy policy_of(const SandboxSpec& spec, const LocalSandboxConfig& config) {
  Policy policy;
  policy.sandbox_profile = config.sandbox_profile;
  policy.limits.max_memory_mb = spec.limits.memory_mb;
  if (spec.limits.cpu_count) policy.limits.cpu_milli = *spec.limits.cpu_count * std::uint64_t{1000};
  if (spec.limits.wall_time)
    policy.limits.wall_time = std::max(std::chrono::ceil<std::chrono::milliseconds>(*spec.limits.wall_time), std::chrono::milliseconds(1));
  return policy;
}

}  // namespace

LocalSandbox::LocalSandbox(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
LocalSandbox::LocalSandbox(LocalSandbox&&) noexcept = default;
LocalSandbox& LocalSandbox::operator=(LocalSandbox&&) noexcept = default;
LocalSandbox::~LocalSandbox() = default;

SandboxResult<LocalSandbox> LocalSandbox::open(LocalSandboxConfig config) {
  auto parts = std::make_unique<Parts>();
  HARN_SESSION_TRY(
      facts, embed::proved_facts({.environment = config.context.environment, .cwd = config.context.cwd, .inside = Inside::other_program}),
      lifecycle);
  parts->facts = std::move(facts);
  parts->places = session::places_for(config.context.environment);
  parts->config = std::move(config);
  return LocalSandbox(std::move(parts));
}

SandboxCapabilities LocalSandbox::capabilities() const {
  const auto& linux = parts_->facts.linux;
  const bool view = linux.user_namespaces && linux.pid_namespaces;
  return {.local_process_sandbox = view || linux.landlock_abi >= 1,
          .network_policy = false,  // named hosts need a relay that outlives whoever started it
          .snapshot = true,
          .resume = true,
          .suspend_on_idle = view};
}

SandboxResult<SandboxSession> LocalSandbox::provision(const SandboxSpec& spec) {
  auto policy = policy_of(spec, parts_->config);
  HARN_SESSION_PASS(session::allow_network(spec.network_policy, policy));
  const auto ground = parts_->ground();
  HARN_SESSION_TAKE(made, session::provision({.spec = spec,
                                              .policy = std::move(policy),
                                              .root = parts_->config.root_dir,
                                              .lifetime = parts_->config.lifetime,
                                              .environment = parts_->config.context.environment,
                                              .ground = ground}));
  parts_->record(AuditEventType::session_provisioned, made);
  return session::session_of(made);
}

SandboxResult<SandboxSession> LocalSandbox::attach_filesystem(const SandboxSessionId& id, const FilesystemMount& mount) {
  HARN_SESSION_TAKE(record, session::attach(parts_->places, id.value, mount, parts_->ground(), parts_->config.context.environment));
  parts_->record(AuditEventType::session_mounted, record, mount.target);
  return session::session_of(record);
}

SandboxResult<SandboxSession> LocalSandbox::apply_network_policy(const SandboxSessionId& id, const NetworkPolicy& policy) {
  HARN_SESSION_TAKE(record, session::change_network(parts_->places, id.value, policy));
  parts_->record(AuditEventType::session_network_applied, record, policy.unrestricted ? "allowed" : "none");
  return session::session_of(record);
}

SandboxResult<Outcome> LocalSandbox::exec_in_full(const SandboxSessionId& id, const ExecRequest& request) {
  if (base::trim(request.command).empty()) return fail_with(Kind::invalid_request, "exec command cannot be empty");
  HARN_SESSION_TAKE(cached, parts_->ready(id.value));
  session::Call call{.argv = {request.command}, .cwd = request.cwd, .env = request.env, .timeout = request.timeout};
  call.argv.insert(call.argv.end(), request.args.begin(), request.args.end());
  call.options = {.streams = {request.input ? Stream::capture : Stream::empty, Stream::capture, Stream::capture},
                  .input = request.input.value_or(std::string()),
                  .receipt = false,
                  .audit = parts_->config.context.audit};
  return session::run_in(parts_->places, cached->ready, parts_->config.context.environment, std::move(call));
}

SandboxResult<ExecResult> LocalSandbox::exec(const SandboxSessionId& id, const ExecRequest& request) {
  HARN_SESSION_TAKE(outcome, exec_in_full(id, request));
  return ExecResult{.out = outcome.captured_stdout.value_or(std::string()),
                    .err = outcome.captured_stderr.value_or(std::string()),
                    .exit_code = outcome.timed_out ? -1 : outcome.exit_code,
                    .timed_out = outcome.timed_out};
}

SandboxResult<SandboxSnapshot> LocalSandbox::snapshot(const SandboxSessionId& id) {
  HARN_SESSION_TAKE(taken, session::take_snapshot(parts_->places, id.value, {}));
  HARN_SESSION_TAKE(record, session::load(parts_->places, id.value));
  parts_->record(AuditEventType::session_snapshot, record, taken.snapshot_id);
  return taken;
}

SandboxResult<SandboxSession> LocalSandbox::restore(const SandboxSnapshot& snapshot, const SandboxSessionId& into) {
  HARN_SESSION_TAKE(record, session::restore_snapshot(parts_->places, snapshot.snapshot_id, into.value));
  return session::session_of(record);
}

SandboxResult<SandboxSession> LocalSandbox::resume(const SandboxSessionId& id) {
  HARN_SESSION_TAKE(record, session::wake(parts_->places, id.value));
  parts_->record(AuditEventType::session_resumed, record);
  return session::session_of(record);
}

SandboxResult<SandboxSession> LocalSandbox::suspend(const SandboxSessionId& id) {
  HARN_SESSION_TAKE(record, session::sleep(parts_->places, id.value));
  parts_->record(AuditEventType::session_suspended, record);
  return session::session_of(record);
}

SandboxResult<void> LocalSandbox::terminate(const SandboxSessionId& id) {
  HARN_SESSION_TAKE(record, session::load(parts_->places, id.value));
  HARN_SESSION_PASS(session::end(parts_->places, id.value));
  parts_->record(AuditEventType::session_terminated, record);
  return {};
}

SandboxResult<SandboxSession> LocalSandbox::find(const SandboxSessionId& id) {
  HARN_SESSION_TAKE(record, session::load(parts_->places, id.value));
  return session::session_of(record);
}

SandboxResult<std::vector<SandboxSession>> LocalSandbox::list() {
  HARN_SESSION_TAKE(names, session::ids(parts_->places));
  std::vector<SandboxSession> out;
  for (const auto& name : names)
    if (auto record = session::load(parts_->places, name)) out.push_back(session::session_of(*record));
  return out;
}

}  // namespace harn

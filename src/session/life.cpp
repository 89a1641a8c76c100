// SPDX-License-Identifier: Apache-2.0
#include "session/life.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/sha256.h"
#include "base/text.h"
#include "harn/policy_text.h"
#include "plan/environment.h"
#include "plan/names.h"
#include "policy/names.h"
#include "run/kept.h"
#include "run/session_cgroup.h"
#include "run/session_freezer.h"
#include "sandbox/run_joined.h"
#include "session/contained.h"
#include "session/errors.h"
#include "session/exec.h"
#include "session/names.h"
#include "session/network.h"
#include "session/overlay.h"
#include "sys/files.h"
#include "sys/random_number.h"

namespace harn::session {
namespace {

using Ask = run::keeper::Kind;

std::uint64_t millis(const std::optional<std::chrono::nanoseconds>& time) {
  return time ? std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::milliseconds>(*time).count())) : 0;
}

// What later commands need of the plan, without the lists their view was made from.
Plan light(Plan plan) {
  LinuxConfinement kept;
  if (const auto* linux = std::get_if<LinuxConfinement>(&plan.confinement); linux != nullptr && linux->syscalls)
    kept.syscalls = SyscallFilter{.arch = linux->syscalls->arch};
  plan.confinement = std::move(kept);
  plan.notes.clear();
  // Of what is not closed only names that may appear are looked at with every command; a receipt is made from the whole plan.
  plan.coverage.dimensions = {};
  std::erase_if(plan.coverage.gaps, [](const Gap& gap) { return gap.code != "absent_protected_name"; });
  return plan;
}

bool is_gone(const Error& error) { return error.os_error == ECONNREFUSED || error.os_error == ENOENT || error.os_error == ENOTDIR; }

Status make_own(const AbsPath& path) {
  HARN_OK(sys::make_directories(path.parent()));
  if (::mkdir(path.text().c_str(), 0700) != 0) return fail(sys::os_failure("mkdir", path.text(), errno));
  return {};
}

Status end_kept(const Record& record) {
  auto ended = run::end_keeper(record.socket, record.keeper);
  if (!ended && is_gone(ended.error())) return {};
  return ended;
}

std::string group_name(const Places& places, const std::string& id) {
  return fmt::format("harn-session-{}-{}", base::sha256_hex(places.records.text()).substr(0, 12), id);
}

SandboxResult<void> end_boundary(const Places& places, const Record& record) {
  if (record.contained()) return end_container(places, record);
  const auto relay = record.kept ? sandbox::RelayLink::open(relay_of(record)) : fail(Error{});
  if (record.kept) HARN_SESSION_OK(end_kept(record), lifecycle);
  if (relay) relay->await_end();
  return end_cgroup(record);
}

}  // namespace

std::map<std::string, std::string> added_variables(const Plan& plan, const Policy& policy, const Command& command) {
  Plan bare;
  plan::plan_environment(policy, command, bare);
  std::map<std::string, std::string> out;
  for (const auto& [name, value] : plan.env.variables) {
    const auto found = bare.env.variables.find(name);
    if (found == bare.env.variables.end() || found->second != value) out.emplace(name, value);
  }
  return out;
}

SandboxResult<void> end_cgroup(const Record& record) {
  bool gone = record.freezer.empty() || run::remove_session_freezer(AbsPath::of(record.freezer));
  gone = run::remove_session_cgroup(record.cgroups) && gone;
  if (gone) return {};
  return fail_with(session::Kind::lifecycle, fmt::format("the cgroup of {} could not be removed", base::quoted(record.id)), "try again");
}

bool is_busy(const Places& places, const Record& record) {
  const sys::UniqueFd fd(::open(busy_file(places, record.id).text().c_str(), O_RDONLY | O_CLOEXEC));
  // A process that is just ending still has what its command held.
  constexpr int looks = 20;
  constexpr useconds_t between = 2000;
  for (int i = 0; i < looks; ++i, ::usleep(between))
    if (!fd || ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return false;
  return true;
}

SandboxResult<sys::UniqueFd> held(const Places& places, const std::string& id) {
  auto lock = hold(places, id);
  if (!lock && lock.error().os_error == ENOENT) return not_found(id);
  if (!lock) return std::unexpected(from(std::move(lock).error(), session::Kind::io));
  return std::move(**lock);
}

SandboxResult<Reserved> Reserved::make(const Places& places, const std::optional<std::string>& id, std::string backend) {
  if (id) HARN_SESSION_PASS(check_id(*id));
  const auto name = id.value_or(fmt::format("{}-{:016x}", backend, sys::random_number()));
  HARN_SESSION_OK(sys::make_directories(places.records), io);
  if (auto made = make_own(place_of(places, name)); !made) {
    if (made.error().os_error != EEXIST) return std::unexpected(from(std::move(made).error(), session::Kind::io));
    return fail_with(session::Kind::lifecycle, fmt::format("there is a session {} already", base::quoted(name)),
                     "choose another id, or end it with 'harn session terminate'", EEXIST);
  }
  HARN_SESSION_TAKE(lock, held(places, name));
  Reserved out(places, std::move(lock));
  out.record.id = name;
  out.record.backend = std::move(backend);
  out.record.created_ms = now_ms();
  out.record.boot_id = boot_id();
  out.record.socket = socket_of(places, name);
  out.record.root = files_of(places, name).join("root");
  HARN_SESSION_PASS(save(places, out.record));
  return out;
}

Reserved::Reserved(Reserved&& other) noexcept
    : record(std::move(other.record)), places_(std::move(other.places_)), held_(std::move(other.held_)) {}

Reserved::~Reserved() {
  if (!held_ || record.ready) return;
  std::ignore = end_boundary(places_, record);
  std::ignore = forget(places_, record);
}

// A session without one sleeps by a signal, and says so.
std::optional<run::SessionFreezer> Reserved::make_freezer() {
  if (record.freezer.empty()) return std::nullopt;
  const bool first = record.sleep == frozen_by_v1;
  auto made = run::make_session_freezer(
      {.kind = first ? run::keeper::Freezer::v1 : run::keeper::Freezer::v2, .directory = AbsPath::of(record.freezer)});
  if (made) return std::move(*made);
  record.freezer.clear();
  record.sleep = stopped_by;
  return std::nullopt;
}

SandboxResult<void> Reserved::keep(const Start& how) {
  HARN_SESSION_OK(make_own(record.socket), io);
  const auto freezer = make_freezer();
  HARN_SESSION_TRY(kept,
                   run::keep_view(how.plan, {.directory = record.socket,
                                             .idle_ms = millis(record.limits.idle_timeout),
                                             .lifetime_ms = how.lifetime ? static_cast<std::uint64_t>(how.lifetime->count()) : 0,
                                             .hide_launcher = how.whole_process,
                                             .canary = how.canary,
                                             .freezer = freezer ? &*freezer : nullptr}),
                   lifecycle);
  record.keeper = kept.pid;
  if (!record.cgroups.directories.empty()) HARN_SESSION_OK(run::join_session_cgroup(record.cgroups, kept.pid), lifecycle);
  for (const auto dimension : kept.proofs) record.proofs.emplace_back(base::enum_name(dimension));
  return {};
}

SandboxResult<void> Reserved::contain(const Start& how) {
  if (record.limits.idle_timeout)
    return unsupported(record.backend, "sleep after a time without commands", "leave the idle timeout out, or use the local backend");
  return start_container(places_, record,
                         {.plan = how.plan,
                          .lifetime_ms = how.lifetime ? static_cast<std::uint64_t>(how.lifetime->count()) : 0,
                          .canary = how.canary,
                          .whole_process = how.whole_process});
}

SandboxResult<Record> Reserved::start(const Start& how) {
  const bool named = !how.policy.effective_network().allowed_hosts.empty();
  if (record.contained() && (named || how.plan.egress))
    return unsupported(record.backend, "limited network allow-lists",
                       "leave the hosts out, open the whole network, or use the local backend");
  if (how.plan.route == Route::refused) return fail_with(session::Kind::lifecycle, how.plan.refusal->message, how.plan.refusal->hint);
  record.kept = !record.contained() && sandbox::check_keepable(how.plan).has_value();
  record.policy = policy_to_json(how.policy, -1);
  record.profile = base::enum_name(how.plan.profile);
  record.plan_digest = digest(how.plan);
  record.env_added = added_variables(how.plan, how.policy, how.command);
  record.relay_secret = fmt::format("{:016x}{:016x}", sys::random_number(), sys::random_number());
  auto whole = how.plan;
  whole.env.variables.clear();
  whole.env.removed.clear();
  HARN_SESSION_OK(put_file(record, plan_file(places_, record.id), plan_to_json(whole, -1)), io);
  HARN_SESSION_OK(put_file(record, exec_file(places_, record.id), plan_to_json(light(whole), -1)), io);
  HARN_SESSION_OK(put_file(record, busy_file(places_, record.id), ""), io);
  if (record.kept && !how.cgroup.empty()) {
    HARN_SESSION_TRY(groups, run::session_cgroup_places(sys::find_cgroup_places(), group_name(places_, record.id), how.cgroup), lifecycle);
    record.cgroups = std::move(groups);
  }
  if (record.kept) {
    record.sleep = stopped_by;
    const bool limited = !how.plan.limits.cgroup.empty() || !record.cgroups.directories.empty();
    const bool in_v2 = limited && sys::find_cgroup_places().kind == CgroupKind::v2;
    if (const auto place = run::find_freezer_place(group_name(places_, record.id) + "-sleep", in_v2)) {
      record.freezer = place->directory.text();
      record.sleep = place->kind == run::keeper::Freezer::v1 ? frozen_by_v1 : frozen_by_v2;
    }
  }
  // Known before it is there: whatever interrupts this, it is found.
  HARN_SESSION_PASS(save(places_, record));
  if (!record.cgroups.directories.empty()) HARN_SESSION_OK(run::make_session_cgroup(record.cgroups, how.cgroup), lifecycle);
  if (record.contained()) HARN_SESSION_PASS(contain(how));
  if (record.kept) HARN_SESSION_PASS(keep(how));
  HARN_SESSION_PASS(open_hosts(record, how.plan));
  auto done = record;
  done.ready = true;
  HARN_SESSION_PASS(save(places_, done));
  record.ready = true;
  return record;
}

namespace {

// Also says what put it to sleep, where that is known.
SandboxState state_of(const Places& places, const Record& record, std::string& sleep) {
  if (!record.ready) return SandboxState::provisioned;
  if (record.contained()) return container_state(places, record);
  if (!record.kept) return record.suspended ? SandboxState::suspended : SandboxState::running;
  if (record.boot_id != boot_id()) return SandboxState::terminated;
  const auto state = run::ask_keeper(record.socket, Ask::state);
  if (!state) return SandboxState::terminated;
  if (state->suspended == 0) return SandboxState::running;
  if (state->frozen == 0) sleep = stopped_by;
  return SandboxState::suspended;
}

}  // namespace

SandboxState state_of(const Places& places, const Record& record) {
  std::string sleep;
  return state_of(places, record, sleep);
}

SandboxSession session_of(const Places& places, const Record& record) {
  auto sleep = record.sleep;
  SandboxSession out{.id = {record.id}, .backend = record.backend, .state = state_of(places, record, sleep)};
  for (const auto& shown : record.mounts)
    out.mounts.push_back({.target = shown.target.text(), .access = shown.access, .host_path = shown.source.text()});
  out.metadata = {{"root", record.root.text()},
                  {"profile", record.profile},
                  {"plan_digest", record.plan_digest},
                  {"created_ms", std::to_string(record.created_ms)},
                  {"boundary", record.contained() ? "container"
                               : record.kept      ? "kept"
                                                  : "made anew for every command"},
                  {"network", std::string(network_word(record.network))}};
  if (!record.network.allowed_hosts.empty()) out.metadata.emplace("hosts", base::join(record.network.allowed_hosts, " "));
  if (record.contained()) out.metadata.insert({{"container", record.container}, {"image_id", record.image_id}});
  if (record.kept)
    out.metadata.emplace("limits", record.cgroups.directories.empty() ? "of each command" : "of each command, and of the session");
  if (record.kept) out.metadata.emplace("sleep", sleep);
  if (record.overlay) out.metadata.emplace("overlay", "changes wait");
  for (const auto& [name, value] : record.labels) out.metadata.emplace("label." + name, value);
  return out;
}

SandboxResult<Record> live(const Places& places, const std::string& id) {
  HARN_SESSION_TAKE(record, load(places, id));
  if (!record.ready) return not_found(id, "it is being made, or its making was interrupted: 'harn session gc' clears that away");
  if (record.kept && record.boot_id != boot_id())
    return not_found(id, "it ended with a reboot: 'harn session gc' clears away what is left");
  return record;
}

SandboxResult<void> end(const Places& places, const std::string& id, bool discard) {
  HARN_SESSION_PASS(load(places, id));
  HARN_SESSION_TAKE(lock, held(places, id));
  HARN_SESSION_TAKE(record, load(places, id));
  if (!record.kept && !record.contained() && is_busy(places, record))
    return fail_with(session::Kind::lifecycle, fmt::format("commands are running in {}", base::quoted(id)),
                     "end them first: without user namespaces only those who started them can");
  if (record.overlay && !discard && changes_wait(places, record))
    return fail_with(
        session::Kind::lifecycle, fmt::format("changes of the workspace wait in {}", base::quoted(id)),
        fmt::format("look at them with 'harn diff --session {0}', then 'harn apply --session {0}', or end it with 'harn session "
                    "terminate --discard {0}'",
                    id));
  HARN_SESSION_PASS(end_boundary(places, record));
  HARN_SESSION_OK(forget(places, record), lifecycle);
  return {};
}

namespace {

SandboxResult<Record> change_sleep(const Places& places, const std::string& id, bool asleep) {
  HARN_SESSION_TAKE(record, live(places, id));
  if (record.kept) {
    const auto state = run::ask_keeper(record.socket, asleep ? Ask::suspend : Ask::resume);
    if (!state && is_gone(state.error())) return gone(id);
    if (!state) return std::unexpected(from(state.error(), session::Kind::lifecycle));
    return record;
  }
  HARN_SESSION_TAKE(lock, held(places, id));
  if (record.contained()) HARN_SESSION_PASS(pause_container(places, record, asleep));
  else if (asleep && is_busy(places, record))
    return unsupported(record.backend, "stopping running commands without user namespaces", "wait until they have ended");
  HARN_SESSION_TAKE(now, load(places, id));
  now.suspended = asleep;
  HARN_SESSION_PASS(save(places, now));
  return now;
}

}  // namespace

SandboxResult<Record> sleep(const Places& places, const std::string& id) { return change_sleep(places, id, true); }
SandboxResult<Record> wake(const Places& places, const std::string& id) { return change_sleep(places, id, false); }

}  // namespace harn::session

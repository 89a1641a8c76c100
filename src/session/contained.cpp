// SPDX-License-Identifier: Apache-2.0
#include "session/contained.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include "base/sha256.h"
#include "base/text.h"
#include "plan/environment.h"
#include "plan/names.h"
#include "plan/wrappers/container_words.h"
#include "sandbox/enter_container.h"
#include "session/errors.h"
#include "session/life.h"
#include "sys/files.h"
#include "sys/random_number.h"

namespace harn::session {
namespace {

constexpr std::size_t longest_plan = 64u << 20;
constexpr std::size_t hash_digits = 12;

SandboxResult<Plan> kept_plan(const Places& places, const std::string& id) {
  HARN_SESSION_TRY(text, sys::read_file(plan_file(places, id), longest_plan), io);
  HARN_SESSION_TRY(plan, plan_from_json(text), json);
  if (!std::holds_alternative<Wrapper>(plan.confinement)) return fail_with(Kind::json, "the session's plan is of no container");
  return plan;
}

SandboxResult<run::EngineClient> client_for(const Places& places, const std::string& id) {
  HARN_SESSION_TAKE(plan, kept_plan(places, id));
  return run::client_of(plan, container_files(places, id), /*dies_with_thread=*/false);
}

std::string run_id_of(const Places& places, const std::string& id) {
  return fmt::format("session-{}-{}", base::sha256_hex(places.records.text()).substr(0, hash_digits), id);
}

bool is_missing(const run::Answer& answer) {
  const auto said = base::lower_ascii(answer.err);
  return said.find("no such") != std::string::npos || said.find("no container with") != std::string::npos;
}

// The engine's own word for how it is; empty where there is none.
SandboxResult<std::string> status_of(const Places& places, const std::string& id) {
  HARN_SESSION_TAKE(client, client_for(places, id));
  HARN_SESSION_TRY(
      answer, run::ask(client, {"inspect", "--type", "container", "--format", "{{.State.Status}}", container_name(places, id)}), lifecycle);
  if (answer.ok()) return std::string(base::trim(answer.out));
  if (is_missing(answer)) return std::string();
  return std::unexpected(from(run::explain(client, {}, "look at the container", answer), Kind::lifecycle));
}

}  // namespace

AbsPath container_files(const Places& places, const std::string& id) { return place_of(places, id).join("container"); }
std::string container_name(const Places& places, const std::string& id) { return "harn-" + run_id_of(places, id); }

SandboxResult<void> start_container(const Places& places, Record& record, const ContainerStart& how) {
  HARN_SESSION_TRY(place, sys::real_path(place_of(places, record.id)), io);
  HARN_SESSION_TRY(made,
                   run::Container::create({.plan = how.plan,
                                           .run_id = run_id_of(places, record.id),
                                           .place = place.join(container_files(places, record.id).name()),
                                           .canary = how.canary,
                                           .life = run::Life::session,
                                           .dies_with_thread = how.whole_process,
                                           .lifetime_ms = how.lifetime_ms}),
                   lifecycle);
  HARN_SESSION_OK(sandbox::await_container(made), lifecycle);
  record.container = made.id();
  record.image_id = made.image_id();
  for (const auto dimension : made.tried()) record.proofs.emplace_back(base::enum_name(dimension));
  made.leave();
  return {};
}

SandboxState container_state(const Places& places, const Record& record) {
  const auto status = status_of(places, record.id);
  if (!status) return SandboxState::terminated;
  if (*status == "paused") return SandboxState::suspended;
  return *status == "running" ? SandboxState::running : SandboxState::terminated;
}

SandboxResult<void> pause_container(const Places& places, const Record& record, bool asleep) {
  HARN_SESSION_TAKE(status, status_of(places, record.id));
  if (status == (asleep ? "paused" : "running")) return {};
  if (status != (asleep ? "running" : "paused"))
    return not_found(record.id, "its container is gone: 'harn session gc' clears away what is left");
  HARN_SESSION_TAKE(client, client_for(places, record.id));
  HARN_SESSION_TRY(answer, run::ask(client, {asleep ? "pause" : "unpause", record.container}), lifecycle);
  if (answer.ok()) return {};
  if (asleep)
    return unsupported(record.backend, "stopping a container here: " + run::complaint(answer),
                       "it needs a cgroup freezer that this user may use; the local backend needs none");
  return std::unexpected(from(run::explain(client, {}, "wake the container", answer), Kind::lifecycle));
}

SandboxResult<void> end_container(const Places& places, const Record& record) {
  // Before its plan was kept there was no container.
  if (sys::type_of(plan_file(places, record.id)) == sys::FileType::missing) return {};
  HARN_SESSION_TAKE(client, client_for(places, record.id));
  const auto name = container_name(places, record.id);
  // A paused one cannot be killed by every engine.
  run::order(client, {"unpause", name});
  HARN_SESSION_TRY(answer, run::ask(client, {"rm", "--force", "--volumes", name}), lifecycle);
  if (answer.ok() || is_missing(answer)) return {};
  return std::unexpected(from(run::explain(client, {}, "remove the container", answer), Kind::lifecycle));
}

SandboxResult<Outcome> run_contained(const Places& places, const Ready& ready, const embed::Environment& environment, Call call,
                                     Policy policy, AbsPath cwd) {
  const auto& record = ready.record;
  if (call.keeps_processes)
    return unsupported(record.backend, "processes that outlive the command that started them",
                       "leave --keep out, or use the local backend");
  if (record.suspended) HARN_SESSION_PASS(wake(places, record.id));
  const sys::UniqueFd busy(::open(busy_file(places, record.id).text().c_str(), O_RDONLY | O_CLOEXEC));
  if (!busy || ::flock(busy.get(), LOCK_SH) != 0) return not_found(record.id);
  HARN_SESSION_TAKE(plan, kept_plan(places, record.id));
  plan.cwd = std::move(cwd);
  plan::plan_environment(policy, {.argv = call.argv, .environment = environment}, plan);
  for (const auto& [name, value] : record.env_added)
    if (!call.env.contains(name)) plan.env.variables.insert_or_assign(name, value);
  plan::change_command(policy, std::move(call.argv), plan);
  shorten(plan.limits.wall_time_ms, call.timeout);
  call.options.workspace = entries(policy.workspace_roots);
  run::Adopted adopted{.plan = plan,
                       .directory = container_files(places, record.id),
                       .id = record.container,
                       .image_id = record.image_id,
                       .dies_with_thread = call.options.whole_process};
  for (const auto& name : record.proofs)
    if (const auto dimension = base::enum_value<Dimension>(name)) adopted.tried.push_back(*dimension);
  auto container = run::Container::adopt(std::move(adopted));
  auto outcome = sandbox::enter_container(container, plan, call.options, fmt::format("exec-{:016x}", sys::random_number()));
  if (outcome) return std::move(*outcome);
  if (outcome.error().code == ErrorCode::not_available)
    return not_found(record.id, "its container is gone: 'harn session gc' clears away what is left");
  return std::unexpected(from(std::move(outcome).error(), Kind::exec));
}

}  // namespace harn::session

// SPDX-License-Identifier: Apache-2.0
#include "session/attach.h"

#include <errno.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "embed/ready.h"
#include "harn/embed.h"
#include "harn/policy_text.h"
#include "plan/linux/guest_mounts.h"
#include "run/mount_into.h"
#include "session/errors.h"
#include "session/exec.h"
#include "session/life.h"
#include "sys/files.h"

namespace harn::session {
namespace {

// The plan of a session with this mount, of which only what is new is done.
SandboxResult<void> mount_now(const Record& record, const Shown& shown, const Plan& plan) {
  const auto* linux = std::get_if<LinuxConfinement>(&plan.confinement);
  if (linux == nullptr || !linux->view) return fail_with(Kind::lifecycle, "the session cannot be planned with a view any more");
  run::MountInto request{.directory = record.socket};
  for (const auto& step : linux->view->mounts)
    if (shown.target.contains(step.target)) request.steps.push_back(step);
  if (linux->landlock)
    for (const auto& rule : linux->landlock->rules)
      if (shown.source.contains(rule.path)) request.rules.push_back(rule);
  HARN_SESSION_OK(run::mount_into(request), lifecycle);
  return {};
}

}  // namespace

SandboxResult<Record> attach(const Places& places, const std::string& id, const FilesystemMount& mount, const MountGround& ground,
                             const embed::Environment& environment) {
  HARN_SESSION_PASS(live(places, id));
  HARN_SESSION_TAKE(lock, held(places, id));
  HARN_SESSION_TAKE(record, live(places, id));
  if (state_of(places, record) == SandboxState::terminated) return gone(id);
  if (record.contained())
    return unsupported(record.backend, "mounting into a container that exists", "create another session with this mount");
  HARN_SESSION_TAKE(shown, resolve_mount(mount, id, record.mounts, ground));
  HARN_SESSION_TRY(policy, parse_policy_json(record.policy, {.home = ground.facts.home}), json);
  grant({shown}, policy);
  record.mounts.push_back(shown);
  name_mounts(record.mounts, record.kept, policy);
  HARN_SESSION_TRY(sandbox, Sandbox::open(policy, {.environment = environment, .cwd = record.root}, {.guests = guests_of(record.mounts)}),
                   lifecycle);
  HARN_SESSION_TRY(plan, sandbox.plan({.argv = {"true"}, .cwd = record.root, .environment = environment}), lifecycle);
  if (plan.refusal) return fail_with(Kind::lifecycle, plan.refusal->message, plan.refusal->hint);
  if (record.kept) HARN_SESSION_PASS(mount_now(record, shown, plan));
  record.policy = policy_to_json(sandbox.policy(), -1);
  auto whole = plan;
  whole.env.variables.clear();
  whole.env.removed.clear();
  HARN_SESSION_OK(sys::replace_file(plan_file(places, id), plan_to_json(whole, -1)), io);
  record.plan_digest = digest(plan);
  HARN_SESSION_PASS(save(places, record));
  return record;
}

SandboxResult<Record> change_network(const Places& places, const std::string& id, const NetworkPolicy& policy) {
  HARN_SESSION_PASS(live(places, id));
  HARN_SESSION_TAKE(lock, held(places, id));
  HARN_SESSION_TAKE(record, live(places, id));
  if (state_of(places, record) == SandboxState::terminated) return gone(id);
  if (policy == record.network) return record;
  if (record.contained())
    return unsupported(record.backend, "changing the network of a container that exists", "create another session with this network");
  if (!policy.allowed_hosts.empty())
    return unsupported(record.backend, "limited network allow-lists",
                       "'harn run' reaches named hosts; a session has all of the network or none");
  if (policy.unrestricted && !record.provisioned.unrestricted)
    return unsupported(record.backend, "opening the network of a session that was made without one",
                       "create another session with the network it needs");
  if (record.kept && !policy.unrestricted) {
    const auto state = run::ask_keeper(record.socket, run::keeper::Kind::state);
    if (!state) return std::unexpected(from(state.error(), Kind::network_policy));
    if (state->execs != 0 || state->others != 0)
      return fail_with(Kind::network_policy,
                       fmt::format("{} process(es) of the session run and would keep the network", state->execs + state->others),
                       "wait until they have ended, or end them");
  }
  record.network = policy;
  HARN_SESSION_PASS(save(places, record));
  return record;
}

}  // namespace harn::session

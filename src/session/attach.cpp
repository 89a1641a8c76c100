// SPDX-License-Identifier: Apache-2.0
#include "session/attach.h"

#include <algorithm>

#include "embed/ready.h"
#include "harn/policy_text.h"
#include "plan/linux/guest_mounts.h"
#include "run/mount_into.h"
#include "session/errors.h"
#include "session/exec.h"
#include "session/life.h"
#include "session/network.h"

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
  HARN_SESSION_TAKE(wanted, policy_in_force(record, policy));
  HARN_SESSION_TAKE(again, plan_again(record, std::move(wanted), environment));
  const auto& plan = again.plan;
  if (plan.refusal) return fail_with(Kind::lifecycle, plan.refusal->message, plan.refusal->hint);
  if (record.kept) HARN_SESSION_PASS(mount_now(record, shown, plan));
  again.policy.network = policy.network;
  again.policy.side_effect_level = policy.side_effect_level;
  record.policy = policy_to_json(again.policy, -1);
  HARN_SESSION_PASS(keep_plan(places, plan, record));
  HARN_SESSION_PASS(save(places, record));
  return record;
}

}  // namespace harn::session

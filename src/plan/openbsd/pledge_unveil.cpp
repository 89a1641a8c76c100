// SPDX-License-Identifier: Apache-2.0
// OpenBSD: unveil says which paths exist for the command, pledge which calls. Both end at exec unless
// execpromises are set, so those carry the boundary; the promises of the launcher only cover the moment before.
#include "plan/coarse_gaps.h"
#include "plan/coverage.h"
#include "plan/limits.h"
#include "plan/linux/dangerous_sockets.h"
#include "plan/linux/network_reach.h"
#include "plan/lower.h"
#include "plan/openbsd/promises.h"
#include "plan/openbsd/unveil_list.h"
#include "plan/workspace_scratch.h"

namespace harn::plan {
namespace {

void cover_paths(const PathRules& rules, const UnveilList& list, Coverage& coverage) {
  for (const auto dimension : {Dimension::reads, Dimension::writes, Dimension::credential_reads, Dimension::metadata, Dimension::devices})
    enforced_by(coverage, dimension, "unveil");
  cover_joint_deletes(rules, coverage);
  cover_unguarded_names(list.unguarded_names, coverage);
  cover_absent_denials(rules, list.unhidden_names, coverage);
  cover_movable(list.movable, coverage);
  open_gap_at(coverage,
              {.dimension = Dimension::writes,
               .code = "hard_link_alias",
               .paths = list.linkable,
               .detail = "a read-only file on the same file system as a writable directory can be linked there and written by that name",
               .remedy = "keep read-only roots on another file system"},
              Enforcement::not_enforced);
}

// Opening with O_CREAT needs the permission that also removes; only root owns /dev and could.
void cover_devices(const PlanInput& input, Coverage& coverage) {
  if (input.facts.uid != 0) return;
  Gap gap{.dimension = Dimension::writes,
          .code = "device_removal",
          .paths = {},
          .detail = "a command of root can remove the devices it may write to",
          .remedy = "run Harn as an ordinary user"};
  for (const auto& rule : input.rules.rules())
    if (rule.origin == Origin::device && rule.access == Access::write && rule.kind != PathKind::missing) gap.paths.push_back(rule.path);
  open_gap_at(coverage, std::move(gap), Enforcement::degraded);
}

void cover_processes(const Policy& policy, const UnveilList& list, Coverage& coverage) {
  enforced_by(coverage, Dimension::unix_sockets, "pledge");
  enforced_by(coverage, Dimension::process_inspection, "pledge");
  open_gap(coverage,
           {.dimension = Dimension::signals,
            .code = "signals_outside",
            .paths = {},
            .detail = "the promise that allows fork also allows signals to every process of the same user",
            .remedy = "run Harn as a user of its own"},
           Enforcement::not_enforced);
  if (entries(policy.process_sandbox.unix_sockets).empty() || list.writable.empty()) return;
  open_gap(coverage,
           {.dimension = Dimension::unix_sockets,
            .code = "named_unix_sockets",
            .paths = list.writable,
            .detail = "with one socket allowed, sockets inside writable directories can be reached as well",
            .remedy = {}},
           Enforcement::degraded);
}

}  // namespace

Status lower_pledge_unveil(const PlanInput& input, Plan& plan) {
  HARN_OK(refuse_dangerous_sockets(input.policy));
  HARN_TRY(list, unveil_list(input));
  const PromiseNeeds needs{.writes = input.rules.writes_allowed(),
                           .network = network_reach(input.policy) == NetworkReach::unrestricted,
                           .sockets = !entries(input.policy.process_sandbox.unix_sockets).empty()};
  plan.confinement =
      PledgeUnveil{.unveils = list.unveils, .promises = {"stdio", "rpath", "proc", "exec"}, .exec_promises = promises_for(needs)};
  plan.notes.emplace_back("set-user-id programs do not start, and programs that call unveil themselves fail: the list is locked");
  move_temp_into_workspace(input, plan);
  cover_processes(input.policy, list, plan.coverage);
  cover_paths(input.rules, list, plan.coverage);
  cover_devices(input, plan.coverage);
  cover_whole_network(input.policy, "pledge", "pledge", plan.coverage);
  lower_posix_limits(input.policy, input.facts, plan);
  return {};
}

}  // namespace harn::plan

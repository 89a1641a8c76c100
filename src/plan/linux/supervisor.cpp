// SPDX-License-Identifier: Apache-2.0
#include "plan/linux/supervisor.h"

#include <algorithm>
#include <map>

#include "plan/linux/ancestors.h"
#include "plan/linux/linux_coverage.h"

namespace harn::plan {
namespace {

constexpr int abi_scopes = 6;

SupervisedPath supervised(const PathRule& rule) {
  return {.path = rule.path, .access = rule.access, .device = rule.access == Access::write && rule.origin == Origin::device};
}

// Landlock opens /proc to every command; what the supervisor refused there would be a difference.
void add_proc(const LandlockPlan& landlock, std::vector<SupervisedPath>& rules) {
  const auto proc = AbsPath::of("/proc");
  const bool opened = std::ranges::any_of(landlock.rules, [&](const LandlockRule& rule) { return rule.path == proc; });
  const auto at = std::ranges::lower_bound(rules, proc, {}, &SupervisedPath::path);
  if (!opened || (at != rules.end() && at->path == proc)) return;
  rules.insert(at, {.path = proc, .access = Access::read});
}

// Everything may be read as far as the supervisor is concerned; only what may be changed, and what not inside
// that, makes a difference.
std::vector<SupervisedPath> changes_only(const PathRules& rules) {
  std::vector<SupervisedPath> out = {{.path = {}, .access = Access::read}};
  Ancestors<Access> around;
  around.enter({}, Access::read);
  for (const auto& rule : rules.rules()) {
    auto row = supervised(rule);
    row.access = std::max(row.access, Access::read);
    if (row.path.is_root()) out.clear();
    else if (row.access == *around.enclosing(row.path)) continue;
    around.enter(row.path, row.access);
    out.push_back(std::move(row));
  }
  return out;
}

std::vector<SupervisedPath> all_rules(const PathRules& rules) {
  std::vector<SupervisedPath> out;
  out.reserve(rules.rules().size() + 1);
  for (const auto& rule : rules.rules()) out.push_back(supervised(rule));
  return out;
}

}  // namespace

bool supervises_signals(const HostFacts& facts) { return facts.linux.landlock_abi < abi_scopes && facts.linux.pidfd_getfd; }

std::optional<SupervisorPlan> plan_supervisor(const PlanInput& input, const LandlockOutcome& landlock, const SocketReach& sockets,
                                              bool network) {
  SupervisorPlan plan{.reads = !landlock.denied_inside.empty(), .explains = input.explain};
  const bool sees_reads = plan.reads || plan.explains;
  if (!sees_reads && !somewhere_writable(input.rules) && !sockets.supervised && !network && !supervises_signals(input.facts))
    return std::nullopt;
  if (sockets.supervised)
    for (const auto& socket : entries(input.policy.process_sandbox.unix_sockets)) plan.sockets.push_back(socket.path);
  plan.abstract_names = sockets.supervised && landlock.plan.abi >= abi_scopes;
  plan.rules = sees_reads ? all_rules(input.rules) : changes_only(input.rules);
  if (sees_reads) add_proc(landlock.plan, plan.rules);
  return plan;
}

SupervisorPlan plan_explanation(const View& view) {
  std::map<AbsPath, Access> places;  // a later mount covers an earlier one
  for (const auto& step : view.mounts) {
    const bool host = step.op == MountOp::bind || step.op == MountOp::bind_read || step.op == MountOp::overlay;
    const bool shown = host || step.op == MountOp::proc;
    places[step.target] = shown ? Access::read : Access::none;
  }
  SupervisorPlan plan{.decides = false, .explains = true};
  for (const auto& [path, access] : places) plan.rules.push_back({.path = path, .access = access});
  return plan;
}

}  // namespace harn::plan

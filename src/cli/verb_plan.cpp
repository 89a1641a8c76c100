// SPDX-License-Identifier: Apache-2.0
// harn plan: the plan for people, as native text, as JSON, or the answer about single paths.
#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/prepare.h"
#include "cli/render_plan.h"
#include "cli/verbs.h"
#include "embed/ready.h"
#include "host/resolve_paths.h"
#include "plan/names.h"
#include "plan/wrappers/container_mounts.h"
#include "policy/env_rules.h"
#include "policy/presets.h"

namespace harn::cli {
namespace {

base::Value explanation_value(const AbsPath& path, const PathRules& rules) {
  base::Value operations;
  for (const auto& [op, name] : base::EnumNames<FileOp>::names) {
    const auto decision = rules.decide(path, op);
    base::Value answer;
    answer.set("allowed", decision.allowed);
    answer.set("origin", base::enum_name(decision.origin));
    answer.set("rule", decision.rule.text());
    operations.set(std::string(name), std::move(answer));
  }
  base::Value out;
  out.set("path", path.text());
  out.set("operations", std::move(operations));
  return out;
}

bool is_container(Backend backend) { return backend == Backend::docker || backend == Backend::podman; }

// What the command would find: a container brings its own system instead of the host's presets.
PathRules rules_inside(const Prepared& prepared, Backend backend) {
  return is_container(backend) ? plan::container_rules(prepared.policy, prepared.facts) : prepared.rules;
}

// Where no rule grants anything, a secret is kept away by name, and a view may have a place of its own.
std::string what_stands_there(const AbsPath& path, const Prepared& prepared, const Result<Plan>& plan) {
  for (const auto& credential : policy::credential_paths(prepared.facts))
    if (credential.path.contains(path))
      return fmt::format("credential at {}; process_sandbox.credentials opens it", credential.path.text());
  const auto* linux = plan ? std::get_if<LinuxConfinement>(&plan->confinement) : nullptr;
  if (linux == nullptr || !linux->view) return {};
  const MountStep* deepest = nullptr;
  for (const auto& step : linux->view->mounts)
    if (step.target.contains(path)) deepest = &step;
  if (deepest == nullptr || deepest->op != MountOp::tmpfs || deepest->target.is_root()) return {};
  return fmt::format("no rule covers it; {} is private: what is written there is gone after the run", deepest->target.text());
}

Result<Reply> explain_paths(const Arguments& arguments, const Prepared& prepared) {
  // A policy that runs nothing has a meaning too, so a plan that cannot be made is no error here.
  const auto plan = make_plan(prepared.policy, prepared.command, prepared.facts, prepared.options, prepared.rules);
  const auto backend = prepared.options.backend.value_or(plan ? plan->backend : Backend::noop);
  const auto rules = rules_inside(prepared, backend);
  HARN_TRY(paths, path_arguments(arguments.all("explain-path"), prepared.context));
  base::Array answers;
  Reply reply;
  for (auto& path : paths) {
    if (prepared.this_host) {
      HARN_TRY(real, host::resolve_existing(path));
      path = std::move(real);
    }
    answers.push_back(explanation_value(path, rules));
    reply.out += explanation_of(path, rules, what_stands_there(path, prepared, plan));
  }
  if (arguments.has("json")) reply.out = base::print_json(base::Value(std::move(answers)), 2) + "\n";
  if (is_container(backend)) reply.err = "harn: note: these are the paths of this host; the container image brings its own system\n";
  return reply;
}

}  // namespace

namespace {

// A plan shown to somebody carries the names of secrets that pass, never their values.
Plan without_secret_values(Plan plan) {
  for (auto& [name, value] : plan.env.variables)
    if (!policy::secret_pattern(name).empty()) value = "[redacted]";
  return plan;
}

}  // namespace

Result<Reply> plan_verb(const Arguments& arguments, const Caller& caller) {
  HARN_TRY(prepared, prepare(arguments, caller));
  if (arguments.has("explain-path")) return explain_paths(arguments, prepared);

  HARN_OK(embed::check_not_blocked(prepared.policy, prepared.command.argv));
  HARN_TRY(plan, make_plan(prepared.policy, prepared.command, prepared.facts, prepared.options, prepared.rules));
  Reply reply;
  if (plan.route == Route::refused) reply.exit_code = exit_refused;
  if (prepared.options.no_sandbox)
    reply.err = fmt::format("harn: warning: {} confines nothing\n", arguments.has("no-sandbox") ? "--no-sandbox" : "--sandbox none");
  if (arguments.has("json")) reply.out = plan_to_json(without_secret_values(plan)) + "\n";
  else if (arguments.has("native")) reply.out = native_text(plan);
  else
    reply.out = picture_of({.plan = plan,
                            .policy = prepared.policy,
                            .rules = rules_inside(prepared, plan.backend),
                            .notes = prepared.notes,
                            .colour = caller.colour});
  return reply;
}

}  // namespace harn::cli

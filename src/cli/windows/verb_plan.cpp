// SPDX-License-Identifier: Apache-2.0
// harn plan on Windows, for this host or for any other.
#include "cli/render_plan.h"
#include "cli/verbs.h"
#include "cli/windows/prepare.h"
#include "policy/env_rules.h"

namespace harn::cli {

Result<Reply> plan_verb(const Arguments& arguments, const Caller& caller) {
  HARN_TRY(prepared, prepare_run(arguments, caller));
  HARN_TRY(plan, make_plan(prepared.policy, prepared.command, prepared.facts, prepared.options, prepared.rules));
  // Shown to somebody: the names of secrets that pass, never their values.
  for (auto& [name, value] : plan.env.variables)
    if (!policy::secret_pattern(name).empty()) value = "[redacted]";
  Reply reply{.exit_code = plan.route == Route::refused ? exit_refused : 0};
  if (prepared.options.no_sandbox) reply.err = "harn: warning: --no-sandbox confines nothing\n";
  if (arguments.has("json")) reply.out = plan_to_json(plan) + "\n";
  else if (arguments.has("native")) reply.out = native_text(plan);
  else
    reply.out =
        picture_of({.plan = plan, .policy = prepared.policy, .rules = prepared.rules, .notes = prepared.notes, .colour = caller.colour});
  return reply;
}

}  // namespace harn::cli

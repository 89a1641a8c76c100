// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "embed/explain.h"
#include "embed/ready.h"

namespace harn::embed {

Result<Outcome> run_looked(const Planned& planned, RunOptions options, std::optional<AskSettings> asks) {
  const auto& [plan, policy, rules, facts] = planned;
  if (options.canary && rules.decide(*options.canary, FileOp::read).allowed) options.canary.reset();
  options.workspace = policy.workspace_roots.value_or(std::vector<AbsPath>{});
  if (!explains(plan)) return run_plan(plan, options);
  Explainer explainer(plan, policy, rules, facts);
  options.on_refusal = [&, watched = std::move(options.on_refusal)](const Refused& refused) {
    if (!refused.worked) explainer.take(refused);
    else if (watched) watched(refused);
  };
  std::optional<Asking> asking;
  if (asks) {
    if (options.run_id.empty()) options.run_id = make_run_id();
    asking.emplace(std::move(*asks), explainer, options, options.run_id);
    options.on_question = [&](const Refused& refused, const QuestionAnswer& answer) { asking->take(refused, answer); };
    options.on_host_question = [&](const HostQuestion& asked, const std::function<void(bool)>& answer) {
      asking->take_host(asked, answer);
    };
    options.attend_fd = asking->fd();
    options.attend = [&] { asking->attend(); };
  }
  options.denials = [&](const Outcome& outcome) { return explainer.finish(outcome); };
  auto outcome = run_plan(plan, options);
  if (!outcome) explain_no_start(plan, explainer, outcome.error());
  return outcome;
}

}  // namespace harn::embed

// SPDX-License-Identifier: Apache-2.0
// harn run and harn shell on macOS and OpenBSD: plan, run, and hand on how the command ended.
#include <fmt/format.h>

#include "cli/load.h"
#include "cli/run_audit.h"
#include "cli/run_lines.h"
#include "cli/run_steps.h"
#include "cli/verbs.h"
#include "embed/ready.h"
#include "harn/sandbox.h"

namespace harn::cli {
namespace {

// What only Linux has is refused by name, before anything runs.
Status check_flags(const Arguments& arguments) {
  constexpr std::pair<std::string_view, std::string_view> missing[] = {
      {"explain", "refusals are explained on Linux only"}, {"ask", "questions are put on Linux only"},
      {"record", "tapes are recorded on Linux only"},      {"overlay", "changes wait in a layer on Linux only"},
      {"publish", "ports are published on Linux only"},
  };
  for (const auto& [option, why] : missing)
    if (arguments.has(option)) return wrong_usage(fmt::format("--{}: {}", option, why), fmt::format("leave --{} out", option));
  return {};
}

Result<Reply> run_prepared(const Arguments& arguments, const Caller& caller, Prepared& prepared, std::optional<AbsPath> canary,
                           RunAudit& audit) {
  audit.use_policy(prepared);
  HARN_OK(embed::check_not_blocked(prepared.policy, prepared.command.argv));
  HARN_TRY(plan, make_plan(prepared.policy, prepared.command, prepared.facts, prepared.options, prepared.rules));
  const bool json = arguments.has("json");
  audit.use_plan(plan, prepared.options);
  if (plan.route == Route::refused)
    return fail(Error{.code = ErrorCode::refused, .stage = Stage::plan, .message = plan.refusal->message, .hint = plan.refusal->hint});
  if (canary && prepared.rules.decide(*canary, FileOp::read).allowed) canary.reset();
  RunOptions options{.whole_process = true, .receipt = json || arguments.has("receipt"), .canary = std::move(canary)};
  audit.fill(options);
  options.nameservers = named_resolvers(caller);
  options.workspace = prepared.policy.workspace_roots.value_or(std::vector<AbsPath>{});
  if (json) options.streams = {Stream::inherit, Stream::capture, Stream::capture};
  else caller.tell(lines_before(plan, prepared, caller));
  HARN_TRY(receipt, receipt_place(arguments, prepared));
  HARN_TRY(outcome, run_plan(plan, options));
  Reply reply{.exit_code = exit_code_of(outcome)};
  if (!json) reply.err += lines_after(outcome, plan) + network_lines(outcome);
  if (receipt) keep_receipt(*receipt, outcome, reply);
  if (audit.end_is_missing() && reply.exit_code == 0) reply.exit_code = exit_no;
  if (json) answer_in_json(std::move(outcome), caller, reply);
  return reply;
}

Result<Reply> run_recorded(const Arguments& arguments, const Caller& caller, const std::vector<std::string>* argv) {
  HARN_OK(check_flags(arguments));
  RunAudit audit(arguments, caller);
  const auto run = [&]() -> Result<Reply> {
    auto canary = embed::make_canary(caller.environment);
    HARN_TRY(prepared, prepare(arguments, caller, audit.settings()));
    if (argv != nullptr) prepared.command.argv = *argv;
    return run_prepared(arguments, caller, prepared, std::move(canary), audit);
  };
  auto reply = run();
  if (!reply) audit.refused(reply.error(), argv != nullptr ? *argv : arguments.operands());
  return reply;
}

}  // namespace

Result<Reply> run_verb(const Arguments& arguments, const Caller& caller) { return run_recorded(arguments, caller, nullptr); }

Result<Reply> shell_verb(const Arguments& arguments, const Caller& caller) {
  const auto shell = caller.environment.find("SHELL");
  const std::vector<std::string> argv = {shell == caller.environment.end() || shell->second.empty() ? "/bin/sh" : shell->second};
  return run_recorded(arguments, caller, &argv);
}

}  // namespace harn::cli

// SPDX-License-Identifier: Apache-2.0
// harn run and harn shell: plan, run, and hand on how the command ended.
#include <fmt/format.h>

#include "base/text.h"
#include "cli/load.h"
#include "cli/prepare.h"
#include "cli/render_denials.h"
#include "cli/run_ask.h"
#include "cli/run_audit.h"
#include "cli/run_lines.h"
#include "cli/run_steps.h"
#include "cli/verbs.h"
#include "embed/ready.h"
#include "embed/taping.h"
#include "harn/sandbox.h"
#include "host/user_files.h"
#include "session/overlay.h"
#include "workspace/pending.h"

namespace harn::cli {
namespace {

// Opened before the command starts, and closed to it: a tape that cannot be written is said before, not after.
Result<std::optional<TapeWriter>> open_tape(const Arguments& arguments, Prepared& prepared) {
  const auto* text = arguments.value("record");
  if (text == nullptr) return std::optional<TapeWriter>();
  HARN_TRY(path, path_argument(*text, prepared.context));
  HARN_OK(check_no_planted_link("tape", path, prepared));
  HARN_TRY(tape, TapeWriter::open(path));
  HARN_OK(embed::withhold(tape.path(), prepared.facts, prepared.policy, prepared.rules, prepared.options));
  return std::optional<TapeWriter>(std::move(tape));
}

// The same as for a receipt: it ran, and that is not the success somebody wanted.
void keep_on_tape(TapeWriter& tape, embed::Taping& taping, const Plan& plan, const Result<Outcome>& outcome, Reply& reply) {
  const auto kept = tape.append(taping.finish(plan, outcome));
  if (kept) return;
  reply.err +=
      fmt::format("harn: warning: {} is not on the tape: {}\n", outcome ? "the command ran, but it" : "this", kept.error().message);
  if (reply.exit_code == 0) reply.exit_code = exit_no;
}

std::string copy_lines(const workspace::Pending& pending) {
  std::string out;
  for (const auto& layer : pending.layers())
    if (layer.copied)
      out += fmt::format("harn: note: no layer can lie over {}: the command works on a copy\n", base::quoted(layer.root.text()));
  return out;
}

std::string pending_line(const workspace::Pending& pending) {
  const auto changes = pending.changes();
  if (!changes) return fmt::format("harn: warning: what changed cannot be told: {}\n", changes.error().message);
  if (changes->empty()) return {};
  return fmt::format("harn: {} of the workspace wait{} ('harn diff', 'harn apply', 'harn discard')\n",
                     changes->size() == 1 ? "1 change" : fmt::format("{} changes", changes->size()), changes->size() == 1 ? "s" : "");
}

Result<Reply> run_prepared(const Arguments& arguments, const Caller& caller, Prepared& prepared, std::optional<AbsPath> canary,
                           RunAudit& audit) {
  audit.use_policy(prepared);
  HARN_OK(embed::check_not_blocked(prepared.policy, prepared.command.argv));
  HARN_TRY(tape, open_tape(arguments, prepared));
  HARN_TRY(plan, make_plan(prepared.policy, prepared.command, prepared.facts, prepared.options, prepared.rules));
  const bool json = arguments.has("json");
  audit.use_plan(plan, prepared.options);
  if (plan.route == Route::refused)
    return fail(Error{.code = ErrorCode::refused, .stage = Stage::plan, .message = plan.refusal->message, .hint = plan.refusal->hint});
  RunOptions options{
      .whole_process = true, .receipt = json || arguments.has("receipt"), .canary = std::move(canary), .place = state_directory(caller)};
  audit.fill(options);
  options.nameservers = named_resolvers(caller);
  if (json) options.streams = {Stream::inherit, Stream::capture, Stream::capture};
  else caller.tell(lines_before(plan, prepared, caller));
  HARN_TRY(receipt, receipt_place(arguments, prepared));
  HARN_TRY(pending, session::begin_overlay(prepared.options, plan));
  if (pending && !json) caller.tell(copy_lines(*pending));
  std::optional<embed::Taping> taping;
  HARN_TRY(asks, ask_settings({arguments, caller, prepared, plan}, options));
  if (tape) taping.emplace(embed::described_run(prepared.asked, prepared.command, plan.cwd, tape->salt())).listen(options);
  auto ran = embed::run_looked({plan, prepared.policy, prepared.rules, prepared.facts}, std::move(options), std::move(asks));
  Reply reply;
  if (tape) keep_on_tape(*tape, *taping, plan, ran, reply);
  if (!ran) caller.tell(reply.err);
  HARN_TRY(outcome, std::move(ran));
  if (const int code = exit_code_of(outcome); code != 0) reply.exit_code = code;
  if (!json) reply.err += lines_after(outcome, plan) + network_lines(outcome);
  const bool told = prepared.options.explain && (!prepared.options.ask || arguments.has("explain"));
  if (!json && told) reply.err += denials_text(outcome.denials, plan);
  if (pending && !json) reply.err += pending_line(*pending);
  if (receipt) keep_receipt(*receipt, outcome, reply);
  if (audit.end_is_missing() && reply.exit_code == 0) reply.exit_code = exit_no;
  if (json) answer_in_json(std::move(outcome), caller, reply);
  return reply;
}

struct Asked {
  const std::vector<std::string>* argv = nullptr;  // in place of the arguments' own
  bool explain = false;
  bool shell = false;  // the terminal is its own
};

Result<Reply> run_recorded(const Arguments& arguments, const Caller& caller, const Asked& asked) {
  RunAudit audit(arguments, caller);
  const auto run = [&]() -> Result<Reply> {
    auto canary = embed::make_canary(caller.environment);
    HARN_TRY(prepared, prepare(arguments, caller, audit.settings()));
    if (asked.argv != nullptr) prepared.command.argv = *asked.argv;
    prepared.options.explain = prepared.options.explain || asked.explain;
    HARN_OK(choose_asking(arguments, asked.shell, prepared));
    return run_prepared(arguments, caller, prepared, std::move(canary), audit);
  };
  auto reply = run();
  if (!reply) audit.refused(reply.error(), asked.argv != nullptr ? *asked.argv : arguments.operands());
  return reply;
}

}  // namespace

Reply reply_for(Outcome outcome, const Caller& caller, bool json) {
  Reply reply{.exit_code = exit_code_of(outcome)};
  const Plan plan{.limits = {.wall_time_ms = outcome.usage.wall_ms}};
  if (!json) reply.err = lines_after(outcome, plan) + network_lines(outcome);
  if (json) answer_in_json(std::move(outcome), caller, reply);
  return reply;
}

Result<Reply> run_verb(const Arguments& arguments, const Caller& caller) { return run_recorded(arguments, caller, {}); }

Result<Reply> explain_verb(const Arguments& arguments, const Caller& caller) {
  return run_recorded(arguments, caller, {.argv = nullptr, .explain = true});
}

// The user's own shell, inside; a login shell's files are the host's business.
Result<Reply> shell_verb(const Arguments& arguments, const Caller& caller) {
  if (arguments.has("record"))
    return wrong_usage("--record leaves a command no terminal, and a shell needs one", "record commands with 'harn run --record'");
  const auto shell = caller.environment.find("SHELL");
  const std::vector<std::string> argv = {shell == caller.environment.end() || shell->second.empty() ? "/bin/sh" : shell->second};
  return run_recorded(arguments, caller, {.argv = &argv, .shell = true});
}

}  // namespace harn::cli

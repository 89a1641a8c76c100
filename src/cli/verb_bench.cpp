// SPDX-License-Identifier: Apache-2.0
// harn test bench: every command of a tape is run again, under the policy it was recorded with, and its answers are compared. A tape
// is somebody's file: what it asks for beyond the caller's own policy is refused as a project's file would be. Where this host lacks
// what the policy demands, that is a failure and no run.
#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/load.h"
#include "cli/prepare.h"
#include "cli/render.h"
#include "cli/run_audit.h"
#include "cli/run_lines.h"
#include "cli/verbs.h"
#include "embed/taping.h"
#include "harn/embed.h"
#include "plan/names.h"

namespace harn::cli {
namespace {

struct Row {
  std::size_t exec = 0;
  std::string verdict = {};  // "same" "differs" "refused" "cannot_run"
  std::vector<std::string> details = {};
  std::vector<std::string> open = {};  // what its policy demands and nothing here enforces
  std::uint64_t recorded_ms = 0;
  std::uint64_t now_ms = 0;
  std::string words = {};
};

std::string first_difference(std::string_view name, std::string_view was, std::string_view is) {
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(was, is).in1 - was.begin());
  const auto line = std::count(was.begin(), was.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  const auto from = [&](std::string_view text) { return base::quoted(text.substr(std::min(at, text.size()), 40)); };
  return fmt::format("{}: from byte {} (line {}) on recorded {}, now {}", name, at + 1, line, from(was), from(is));
}

void compare(const RunRecord& record, const Outcome& now, Row& row) {
  const auto was = outcome_of(record);
  if (!was) {
    row.details.push_back(was.error().message);
    return;
  }
  if (was->exit_code != now.exit_code) row.details.push_back(fmt::format("exit_code: recorded {}, now {}", was->exit_code, now.exit_code));
  const std::tuple<std::string_view, bool, bool> flags[] = {{"timed_out", was->timed_out, now.timed_out},
                                                            {"oom_killed", was->oom_killed, now.oom_killed},
                                                            {"cpu_exceeded", was->cpu_exceeded, now.cpu_exceeded},
                                                            {"file_size_exceeded", was->file_size_exceeded, now.file_size_exceeded},
                                                            {"processes_exceeded", was->processes_exceeded, now.processes_exceeded},
                                                            {"output_truncated", was->output_truncated, now.output_truncated}};
  for (const auto& [name, before, after] : flags)
    if (before != after) row.details.push_back(fmt::format("{}: recorded {}, now {}", name, before, after));
  if (was->captured_stdout != now.captured_stdout)
    row.details.push_back(first_difference("stdout", *was->captured_stdout, *now.captured_stdout));
  if (was->captured_stderr != now.captured_stderr)
    row.details.push_back(first_difference("stderr", *was->captured_stderr, *now.captured_stderr));
}

// What a tape does not keep, a command cannot be given again.
std::string why_not_again(const RunRecord& record) {
  if (record.redacted) return "the tape does not have the secrets that stood in its command line, directory or policy";
  if (record.input.size != 0) return fmt::format("the tape has only the hash of the {} bytes it was given to read", record.input.size);
  return {};
}

struct Bench {
  const Arguments& arguments;
  const Caller& caller;
  const Tape& tape;
  const Prepared& prepared;  // the caller's own policy, with the flags of this call
  const AuditSettings& audit;
};

Status check_allowed(const Bench& bench, const Policy& recorded) {
  if (bench.arguments.has("as-recorded")) return {};
  const auto more = within(bench.prepared.asked, recorded);
  if (more.empty()) return {};
  std::vector<std::string> parts;
  for (const auto& item : more) parts.push_back(fmt::format("{} {} (you allow: {})", item.member, item.requested, item.ceiling));
  return fail(Error{.code = ErrorCode::refused,
                    .stage = Stage::compose,
                    .message = fmt::format("its policy allows more than yours: {}", base::join(parts, "; ")),
                    .hint = "give the flags that 'harn run' had, or --as-recorded if you know who made this tape"});
}

// Without a boundary nothing would be run as it was recorded, whatever came out of it.
Status check_confined(const Plan& plan, const Policy& policy) {
  if (plan.route != Route::direct || policy.profile() == Profile::unrestricted) return {};
  return fail(Error{.code = ErrorCode::refused,
                    .stage = Stage::plan,
                    .message = fmt::format("nothing here would confine it, and its policy demands {}", base::enum_name(policy.profile())),
                    .hint = "'harn doctor' says what is missing; HARN_HANDLER_SANDBOX=off and HARN_PRETEND take it away"});
}

Result<Outcome> run_again(const RunRecord& record, const Bench& bench, Row& row) {
  RunAudit audit(bench.arguments, bench.caller);
  *audit.settings() = bench.audit;
  audit.use_profile(record.profile);
  bool handed_over = false;  // the sandbox itself records what follows
  const auto run = [&]() -> Result<Outcome> {
    const auto& options = bench.prepared.options;
    HARN_TRY(sandbox, Sandbox::open(record.policy,
                                    {.environment = bench.caller.environment,
                                     .cwd = record.cwd,
                                     .audit = audit.is_off() ? nullptr : &audit,
                                     .withheld = {bench.tape.path()}},
                                    {.fallback = options.fallback, .egress = options.egress, .wasi_runtime = options.wasi_runtime}));
    // As composed here: links resolved, the workspace named.
    HARN_OK(check_allowed(bench, sandbox.policy()));
    const Command command{.argv = record.argv, .cwd = record.cwd};
    HARN_TRY(plan, sandbox.plan(command));
    HARN_OK(check_confined(plan, sandbox.policy()));
    if (plan.route != Route::direct)
      for (const auto name : names_with(plan.coverage, Enforcement::not_enforced)) row.open.emplace_back(name);
    handed_over = true;
    return sandbox.run(command);
  };
  auto outcome = run();
  if (!outcome && !handed_over) audit.refused(outcome.error(), record.argv);
  if (outcome && audit.end_is_missing()) row.details.emplace_back("the audit log does not have its end");
  return outcome;
}

// What has a second name could be reached under that one.
Status check_one_name(const Tape& tape) {
  if (tape.names() == 1) return {};
  return fail(Error{.code = ErrorCode::refused,
                    .stage = Stage::prepare,
                    .message = fmt::format("the tape {} has {} names", base::quoted(tape.path().text()), tape.names()),
                    .hint = "remove the other hard links, or bench a copy"});
}

Row row_of(const RunRecord& record, const Bench& bench) {
  Row row{.recorded_ms = record.end.value_or(TapedEnd{}).wall_ms};
  std::vector<std::string> words;
  for (const auto& word : record.argv) words.push_back(base::shell_word(word));
  row.words = base::join(words, " ");
  if (auto why = why_not_again(record); !why.empty()) {
    row.verdict = "cannot_run";
    row.details.push_back(std::move(why));
    return row;
  }
  const auto now = run_again(record, bench, row);
  const bool same_error =
      !now && record.error && record.error->code == name_of(now.error().code) && record.error->os_error == now.error().os_error;
  if (!now && !same_error) {
    row.verdict = "refused";
    row.details.push_back(describe(now.error()));
    return row;
  }
  if (now && record.error) row.details.push_back(fmt::format("it runs now; when it was recorded it did not: {}", record.error->message));
  else if (now) compare(record, *now, row);
  if (now) row.now_ms = now->usage.wall_ms;
  row.verdict = row.details.empty() ? "same" : "differs";
  return row;
}

base::Value row_value(const Row& row) {
  base::Value out;
  out.set("exec", std::uint64_t{row.exec});
  out.set("verdict", row.verdict);
  base::Array details;
  for (const auto& detail : row.details) details.emplace_back(base::one_line(detail));
  out.set("details", std::move(details));
  base::Array open;
  for (const auto& name : row.open) open.emplace_back(name);
  out.set("not_enforced", std::move(open));
  out.set("recorded_ms", row.recorded_ms);
  out.set("now_ms", row.now_ms);
  out.set("command", base::one_line(row.words));
  return out;
}

std::string row_text(const Row& row) {
  auto out = base::one_line(fmt::format("{:>5}  {:<10}  {:>6} ms, recorded {} ms  {}", row.exec, row.verdict, row.now_ms, row.recorded_ms,
                                        row.words)) +
             "\n";
  for (const auto& detail : row.details) out += fmt::format("         {}\n", base::one_line(detail));
  if (!row.open.empty()) out += fmt::format("         not enforced here: {}\n", base::join(row.open, " "));
  return out;
}

}  // namespace

Result<Reply> test_bench(const Arguments& arguments, const Caller& caller) {
  HARN_TRY(path, path_argument(arguments.operands()[0], path_context(caller)));
  HARN_TRY(tape, Tape::open(path));
  HARN_OK(check_one_name(tape));
  AuditSettings audit;
  HARN_TRY(prepared, prepare_unproved(arguments, caller, {}, &audit));
  const Bench bench{arguments, caller, tape, prepared, audit};
  Reply reply{.err = pretence_line(caller)};
  if (tape.torn()) reply.err += "harn: warning: a writer of this tape was killed; what it left is not used\n";
  std::map<std::string, std::size_t> counts;
  base::Array rows;
  for (std::size_t i = 0; i < tape.records().size(); ++i) {
    HARN_TRY(record, tape.whole(i));
    auto row = row_of(record, bench);
    row.exec = i + 1;
    ++counts[row.verdict];
    if (arguments.has("json")) rows.push_back(row_value(row));
    else reply.out += row_text(row);
  }
  const auto not_run = counts["refused"] + counts["cannot_run"];
  reply.exit_code = not_run != 0 ? exit_refused : counts["differs"] != 0 ? exit_no : 0;
  if (arguments.has("json")) {
    base::Value out;
    out.set("ok", reply.exit_code == 0);
    out.set("execs", std::move(rows));
    reply.out = base::print_json(out, 2) + "\n";
    return reply;
  }
  if (not_run != 0)
    reply.err += fmt::format("harn: {} of {} commands could not be run again as they were recorded\n", not_run, tape.records().size());
  return reply;
}

}  // namespace harn::cli

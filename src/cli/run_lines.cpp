// SPDX-License-Identifier: Apache-2.0
#include "cli/run_lines.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/render.h"
#include "cli/told.h"
#include "host/resolve_paths.h"
#include "plan/names.h"

namespace harn::cli {
namespace {

// In one line what the receipt tells in full: holes every time, small gaps once per boot.
std::string gap_line(const Plan& plan, const Prepared& prepared, const Caller& caller) {
  const auto partly = names_with(plan.coverage, Enforcement::degraded);
  const auto open = names_with(plan.coverage, Enforcement::not_enforced);
  if (plan.route == Route::direct) return "harn: warning: nothing confines this command\n";
  std::string out;
  if (!open.empty()) out += fmt::format("harn: warning: not enforced here: {}\n", fmt::join(open, " "));
  const auto gaps = fmt::format("harn: note: enforced with gaps: {} ('harn plan' names them; this is said once)\n", fmt::join(partly, " "));
  if (!partly.empty() && is_news(caller, prepared.facts.project_root.text(), gaps)) out += gaps;
  return out;
}

// Somebody believes in a denial; where nothing is, nothing is closed.
std::string denial_lines(const Prepared& prepared) {
  std::string out;
  for (const auto& path : prepared.policy.process_sandbox.read_deny_roots)
    if (!prepared.facts.exists(path)) out += fmt::format("harn: warning: nothing is at the denied {}\n", base::quoted(path.text()));
  return out;
}

std::string ceiling_lines(const Prepared& prepared) {
  std::string out;
  for (const auto& line : prepared.cut_short) out += fmt::format("harn: warning: {}\n", line);
  return out;
}

// What an earlier command may have made of the project, so that less of it is guarded: once per boot.
std::string project_lines(const Prepared& prepared, const Caller& caller) {
  std::string out;
  for (const auto& warning : prepared.warnings)
    if (is_news(caller, prepared.facts.project_root.text(), warning)) out += fmt::format("harn: note: {}\n", warning);
  return out;
}

std::string limit_line(const Outcome& outcome, const Plan& plan) {
  if (outcome.cpu_exceeded) return "harn: stopped: the processor time of its tree is spent (--cpu-seconds)\n";
  if (outcome.timed_out)
    return fmt::format("harn: stopped: {} ms of wall-clock time are over (--timeout)\n", plan.limits.wall_time_ms.value_or(0));
  if (outcome.oom_killed) return "harn: stopped: its memory limit is spent (--memory)\n";
  if (outcome.processes_exceeded) return "harn: the limit of processes was reached (--procs)\n";
  if (outcome.file_size_exceeded) return "harn: stopped: a file grew past its limit (--file-size)\n";
  return {};
}

std::string after_line(const Outcome& outcome, const Plan& plan) {
  std::string out;
  if (!outcome.error.empty())
    out += fmt::format("harn: {}\n  end them yourself; a pid namespace would have ended them ('harn doctor')\n", outcome.error);
  if (outcome.output_truncated)
    out += plan.limits.max_output_bytes ? "harn: output was cut at its limit (--output-limit)\n"
                                        : "harn: output was cut: nobody took it before the time was over (--timeout)\n";
  for (const auto& name : outcome.appeared) out += fmt::format("harn: warning: the protected name {} appeared\n", base::quoted(name));
  for (const auto& root : outcome.created_trusted)
    out += fmt::format("harn: warning: the command made the repository {}; git outside runs what its hooks and configuration name\n",
                       base::quoted(root));
  return out;
}

}  // namespace

std::string pretence_line(const Caller& caller) {
  const auto pretended = caller.environment.find("HARN_PRETEND");
  if (pretended == caller.environment.end() || pretended->second.empty()) return {};
  return fmt::format("harn: warning: HARN_PRETEND={} takes mechanisms away\n", pretended->second);
}

std::string lines_before(const Plan& plan, const Prepared& prepared, const Caller& caller) {
  return pretence_line(caller) + gap_line(plan, prepared, caller) + ceiling_lines(prepared) + denial_lines(prepared) +
         project_lines(prepared, caller);
}

std::string lines_after(const Outcome& outcome, const Plan& plan) { return limit_line(outcome, plan) + after_line(outcome, plan); }

// What the command could not reach, with the flag that would change it.
std::string network_lines(const Outcome& outcome) {
  constexpr std::size_t told_at_most = 8;
  std::string out;
  std::size_t told = 0;
  for (const auto& denial : outcome.denials) {
    if (denial.access != "host") continue;
    if (++told > told_at_most) continue;
    out += fmt::format("harn: refused: {} {}: {}{}\n", denial.call == "udp" ? "datagrams to" : denial.call, base::quoted(denial.target),
                       denial.rule, denial.remedy.empty() ? "" : fmt::format(" ({})", denial.remedy));
  }
  if (told > told_at_most) out += fmt::format("harn: refused: {} more; --json lists them\n", told - told_at_most);
  if (!outcome.relay_lost.empty()) out += fmt::format("harn: warning: {}\n", outcome.relay_lost);
  return out;
}

// An answer nobody received is not a success.
void answer_in_json(Outcome outcome, const Caller& caller, Reply& reply) {
  if (caller.write == nullptr) {
    reply.out = outcome_to_json(outcome) + "\n";
    return;
  }
  bool told = true;
  write_outcome_json(std::move(outcome), 2, [&](std::string_view piece) { told = told && caller.write(piece); });
  told = told && caller.write("\n");
  if (!told && reply.exit_code == 0) reply.exit_code = exit_usage;
}

Status check_no_planted_link(std::string_view what, const AbsPath& path, const Prepared& prepared) {
  HARN_TRY(real, host::resolve_parent(path));
  if (real == path || !prepared.rules.decide(path, FileOp::write).allowed) return {};
  return fail(Error{.code = ErrorCode::refused,
                    .stage = Stage::prepare,
                    .message = fmt::format("the {} {} would end up at {}: a link leads there, and commands may have made it", what,
                                           base::quoted(path.text()), base::quoted(real.text())),
                    .hint = "name the place itself"});
}

// Held before the command starts, because afterwards the names on the way may be its own. In a place a
// command may write, a link may be the work of an earlier one.
Result<std::optional<host::HeldPlace>> receipt_place(const Arguments& arguments, const Prepared& prepared) {
  const auto* text = arguments.value("receipt");
  if (text == nullptr) return std::optional<host::HeldPlace>();
  HARN_TRY(path, path_argument(*text, prepared.context));
  HARN_OK(check_no_planted_link("receipt", path, prepared));
  HARN_TRY(place, host::HeldPlace::open(path));
  return std::optional<host::HeldPlace>(std::move(place));
}

// The command has run, so this is no error of its own any more; but nobody may take it for a success.
void keep_receipt(const host::HeldPlace& place, const Outcome& outcome, Reply& reply) {
  const auto kept = place.keep(receipt_to_json(outcome.receipt) + "\n");
  if (kept) return;
  reply.err += fmt::format("harn: warning: the command ran, but its receipt could not be kept: {}\n", kept.error().message);
  if (reply.exit_code == 0) reply.exit_code = exit_no;
}

}  // namespace harn::cli

// SPDX-License-Identifier: Apache-2.0
// harn run on Windows: plan, run, and hand on how the command ended.
#include <windows.h>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/render.h"
#include "cli/verbs.h"
#include "cli/windows/prepare.h"
#include "embed/blocked.h"
#include "harn/sandbox.h"
#include "sys/windows/native.h"

namespace harn::cli {
namespace {

// Every dimension that is open, every time; gaps are in the plan and in the receipt.
std::string gap_lines(const Plan& plan) {
  std::string out;
  if (plan.route == Route::direct) out += "harn: warning: nothing confines this command\n";
  for (const auto& note : plan.notes) out += fmt::format("harn: note: {}\n", note);
  const auto open = names_with(plan.coverage, Enforcement::not_enforced);
  if (plan.route != Route::direct && !open.empty()) out += fmt::format("harn: warning: not enforced here: {}\n", fmt::join(open, " "));
  return out;
}

// What earlier runs left, and objects that are not what they were: worth a word, and no failure of this command.
std::string left_lines(const Outcome& outcome) {
  std::string out;
  for (const auto& gap : outcome.receipt.gaps)
    if (gap.code == "left_behind") out += fmt::format("harn: warning: {}\n", gap.detail);
  return out;
}

std::string after_lines(const Outcome& outcome) {
  if (!outcome.error.empty()) return fmt::format("harn: {}\n", outcome.error);
  if (outcome.cpu_exceeded) return "harn: stopped: the processor time of its tree is spent (--cpu-seconds)\n";
  if (outcome.timed_out) return "harn: stopped: its wall-clock time is over (--timeout)\n";
  if (outcome.oom_killed) return "harn: stopped: its memory limit is spent (--memory)\n";
  if (outcome.processes_exceeded) return "harn: the limit of processes was reached (--procs)\n";
  if (outcome.output_truncated) return "harn: output was cut (--output-limit)\n";
  return {};
}

// A crash ends with a number of its own, which is negative only when it is read as ours; it goes through unchanged.
int exit_code_for(const Outcome& outcome) {
  constexpr int strongest_signal = -64;
  if (!outcome.error.empty()) return exit_refused;
  if (outcome.timed_out && !outcome.cpu_exceeded) return exit_timeout;
  const bool ours = outcome.exit_code < 0 && outcome.exit_code >= strongest_signal;
  return ours ? exit_signal_base - outcome.exit_code : outcome.exit_code;
}

// Opened before the command starts and shared with nobody: it can neither be put elsewhere nor read half.
class ReceiptFile {
 public:
  static Result<ReceiptFile> open(const AbsPath& path) {
    HARN_TRY(name, sys::wide(path.text()));
    ReceiptFile out;
    out.file_ = sys::UniqueHandle(::CreateFileW(name.c_str(), GENERIC_WRITE, 0, nullptr, CREATE_ALWAYS,
                                                FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT, nullptr));
    if (!out.file_) return sys::call_failed("CreateFileW", path.text());
    return out;
  }
  bool keep(const std::string& text) const {
    DWORD written = 0;
    return ::WriteFile(file_.get(), text.data(), static_cast<DWORD>(text.size()), &written, nullptr) != 0 && written == text.size();
  }

 private:
  sys::UniqueHandle file_ = {};
};

Result<std::optional<ReceiptFile>> receipt_file(const Arguments& arguments, const PreparedRun& prepared) {
  const auto* text = arguments.value("receipt");
  if (text == nullptr) return std::optional<ReceiptFile>();
  HARN_TRY(path, path_argument(*text, {.cwd = prepared.facts.cwd, .home = prepared.facts.home}));
  HARN_TRY(file, ReceiptFile::open(path));
  return std::optional<ReceiptFile>(std::move(file));
}

}  // namespace

Result<Reply> run_verb(const Arguments& arguments, const Caller& caller) {
  HARN_TRY(prepared, prepare_run(arguments, caller));
  HARN_OK(embed::check_not_blocked(prepared.policy, prepared.command.argv));
  HARN_TRY(plan, make_plan(prepared.policy, prepared.command, prepared.facts, prepared.options, prepared.rules));
  const bool json = arguments.has("json");
  HARN_TRY(receipt, receipt_file(arguments, prepared));
  if (!json && plan.route != Route::refused) caller.tell(gap_lines(plan));
  RunOptions options{.whole_process = true, .receipt = json || receipt.has_value()};
  if (json) options.streams = {Stream::inherit, Stream::capture, Stream::capture};
  HARN_TRY(outcome, run_plan(plan, options));
  Reply reply{.exit_code = exit_code_for(outcome)};
  if (!json) reply.err = left_lines(outcome) + after_lines(outcome);
  if (receipt && !receipt->keep(receipt_to_json(outcome.receipt) + "\n")) {
    reply.err += "harn: warning: the command ran, but its receipt could not be kept\n";
    if (reply.exit_code == 0) reply.exit_code = exit_no;
  }
  if (json) reply.out = outcome_to_json(outcome) + "\n";
  return reply;
}

}  // namespace harn::cli

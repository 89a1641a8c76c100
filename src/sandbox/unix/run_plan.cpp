// SPDX-License-Identifier: Apache-2.0
// harn/sandbox.h where there is neither Linux nor Windows: strings preparing, spawning and supervising together and
// writes the receipt. What confines stands in the folder of the system.
#include <chrono>

#include <fmt/format.h>

#include "harn/sandbox.h"
#include "plan/names.h"
#include "run/run_id.h"
#include "run/scratch.h"
#include "run/stdio.h"
#include "run/terminal.h"
#include "run/unix/confine.h"
#include "run/unix/guard.h"
#include "run/unix/own_signals.h"
#include "run/unix/spawn.h"
#include "run/unix/supervise.h"
#include "sandbox/appeared.h"
#include "sandbox/complete.h"
#include "sandbox/receipt.h"
#include "sandbox/record.h"
#include "sandbox/timing.h"
#include "sandbox/unix/egress.h"
#include "sys/files.h"

namespace harn {
namespace {

using sandbox::Clock;
using sandbox::micros_since;

Status check_runnable(const Plan& plan) {
  if (plan.route == Route::refused)
    return fail(Error{.code = ErrorCode::refused,
                      .stage = Stage::plan,
                      .message = plan.refusal ? plan.refusal->message : "the plan may not run",
                      .hint = plan.refusal ? plan.refusal->hint : ""});
  if (plan.route == Route::wasi)
    return fail(Error{.code = ErrorCode::not_supported,
                      .stage = Stage::prepare,
                      .message = "modules run on Linux only",
                      .hint = "choose another profile, or run it there"});
  return {};
}

// A command may leave its group and lose its parent between two looks; nothing of the kernel's holds it then.
Gap orphans_gap() {
  return {.dimension = Dimension::processes,
          .code = "outlives_run",
          .paths = {},
          .detail = "a process that leaves its group and loses its parent before it is seen outlives the run",
          .remedy = {}};
}

Result<Outcome> run_confined(const Plan& plan, const RunOptions& options, const run::Confining& confining, Receipt& receipt) {
  HARN_TRY(stdio,
           run::open_stdio({.streams = options.streams, .input = options.input, .count_output = plan.limits.max_output_bytes.has_value()}));
  HARN_TRY(scratch, plan.scratch ? run::Scratch::make(*plan.scratch) : run::Scratch());
  run::OwnSignals own;
  HARN_OK(own.take_over());
  const bool has_terminal = stdio.terminal_fd >= 0 && run::in_foreground(stdio.terminal_fd);
  const auto spawning = Clock::now();
  HARN_TRY(leader,
           run::spawn({.plan = plan, .confining = confining, .stdio = stdio.child, .terminal_fd = has_terminal ? stdio.terminal_fd : -1}));
  receipt.timings_us["spawn"] = micros_since(spawning);
  auto guard = run::Guard::post(leader);
  const auto running = Clock::now();
  auto outcome = run::supervise(
      {.leader = leader, .limits = plan.limits, .options = options, .signal_fd = own.fd(), .has_terminal = has_terminal}, std::move(stdio));
  receipt.timings_us["run"] = micros_since(running);
  if (!guard)
    receipt.gaps.push_back({.dimension = Dimension::processes,
                            .code = "outlives_harn",
                            .paths = {},
                            .detail = "the command would have outlived harn, had it been killed: " + guard.error().message,
                            .remedy = {}});
  return outcome;
}

}  // namespace

Result<Outcome> run_plan(const Plan& asked, const RunOptions& options) {
  const auto start = Clock::now();
  HARN_OK(check_runnable(asked));
  const auto run_id = options.run_id.empty() ? make_run_id() : options.run_id;
  HARN_TRY(egress, sandbox::Egress::start(asked, options));
  const auto& plan = egress.plan();
  HARN_TRY(confining, run::Confining::prepare(plan, options.canary ? options.canary->text() : std::string()));
  auto receipt = options.receipt ? sandbox::make_receipt(asked, confining.proofs()) : Receipt{};
  receipt.run_id = run_id;
  receipt.gaps.push_back(orphans_gap());
  const auto names = sandbox::NameWatch::before(plan, options.workspace);
  HARN_TRY(not_recorded, sandbox::record_start(plan, options, run_id));
  receipt.timings_us["prepare"] = micros_since(start);
  auto ran = run_confined(plan, options, confining, receipt);
  if (ran) {
    if (auto settled = confining.settle(plan, *ran); !settled) ran = fail(std::move(settled).error());
  }
  if (!ran) {
    sandbox::record_no_start(options, ran.error(), run_id);
    return ran;
  }
  auto& outcome = *ran;
  names.report(outcome);
  egress.report(outcome);
  outcome.not_recorded = std::move(not_recorded);
  const auto plan_digest = options.audit == nullptr || options.receipt ? receipt.plan_digest : digest(asked);
  sandbox::complete(options, outcome, std::move(receipt), plan_digest);
  return ran;
}

}  // namespace harn

// SPDX-License-Identifier: Apache-2.0
// One command in a container of its own: made, started and attached to by the engine's client, removed by
// its id, and told about in the same words as any other run.
#include "sandbox/run_container.h"

#include "run/container/container.h"
#include "run/run_id.h"
#include "sandbox/appeared.h"
#include "sandbox/attend.h"
#include "sandbox/receipt.h"
#include "sandbox/record.h"
#include "sandbox/timing.h"

namespace harn::sandbox {

Result<Outcome> run_container(const Plan& plan, const RunOptions& options) {
  const auto start = Clock::now();
  Attendant attendant(plan, options);
  HARN_TRY(stdio, attendant.open());
  const auto run_id = options.run_id.empty() ? run::make_run_id() : options.run_id;
  HARN_TRY(container, run::Container::create({.plan = plan,
                                              .run_id = run_id,
                                              .place = options.place.value_or(AbsPath::of("/var/tmp")),
                                              .canary = options.canary,
                                              .terminal = all_terminals(stdio),
                                              .dies_with_thread = options.whole_process}));
  auto receipt = options.receipt ? make_receipt(plan, container.tried()) : Receipt{};
  receipt.run_id = run_id;
  receipt.timings_us["prepare"] = micros_since(start);
  if (options.receipt) receipt.layers["image"] = container.image_id();

  const auto names = NameWatch::before(plan, options.workspace);
  HARN_TRY(not_recorded, record_start(plan, options, run_id));
  const auto plan_digest = options.audit == nullptr || options.receipt ? receipt.plan_digest : digest(plan);
  const auto running = Clock::now();
  auto attended = attendant.attend(container, container.report(), container.start_words(), std::move(stdio));
  if (!attended) record_no_start(options, attended.error(), run_id);
  HARN_TRY(outcome, std::move(attended));
  receipt.timings_us["run"] = micros_since(running);
  names.report(outcome);
  outcome.error = container.remove();
  if (!outcome.error.empty())
    receipt.gaps.push_back({.dimension = Dimension::processes, .code = "left_running", .paths = {}, .detail = outcome.error, .remedy = {}});
  outcome.not_recorded = std::move(not_recorded);
  record_end(options, outcome, plan_digest, run_id);
  // Those that a killed harn left: after the command, so that it need not wait for them.
  run::sweep_containers(container.client());
  outcome.receipt = std::move(receipt);
  return outcome;
}

}  // namespace harn::sandbox

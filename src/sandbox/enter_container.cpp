// SPDX-License-Identifier: Apache-2.0
#include "sandbox/enter_container.h"

#include <unistd.h>

#include <chrono>

#include "run/run_id.h"
#include "sandbox/appeared.h"
#include "sandbox/attend.h"
#include "sandbox/receipt.h"
#include "sandbox/record.h"

namespace harn::sandbox {
namespace {

using Clock = std::chrono::steady_clock;

constexpr useconds_t look_again_us = 2000;

Error lost(std::string message) {
  return {.code = ErrorCode::not_available, .stage = Stage::prepare, .message = std::move(message), .hint = "start a new session"};
}

}  // namespace

Status await_container(run::Container& container) {
  HARN_TRY(started, run::ask(container.client(), {"start", container.id()}));
  if (!started.ok()) return fail(run::explain(container.client(), container.image(), "start the container", started));
  auto& report = container.report();
  for (const auto until = Clock::now() + run::engine_patience; !report.ready() && Clock::now() < until; ::usleep(look_again_us))
    report.look();
  if (report.doors() != 0) return fail(open_doors(report.doors()));
  if (!report.ready()) return fail(lost("the container started, and its first program was never heard of"));
  return {};
}

Result<Outcome> enter_container(run::Container& container, const Plan& plan, const RunOptions& options, const std::string& name) {
  Attendant attendant(plan, options);
  HARN_TRY(stdio, attendant.open());
  HARN_TRY(report, run::ReportPipe::make(container.inside().join(name)));
  const auto names = NameWatch::before(plan, options.workspace);
  auto words = container.exec_words(plan, name, all_terminals(stdio));
  const auto run_id = options.run_id.empty() ? run::make_run_id() : options.run_id;
  HARN_TRY(not_recorded, record_start(plan, options, run_id));
  auto outcome = attendant.attend(container, report, std::move(words), std::move(stdio));
  ::unlink(container.inside().join(name).text().c_str());
  if (!outcome) {
    record_no_start(options, outcome.error(), run_id);
    const auto state = container.state();
    if (state && state->status == "running") return outcome;
    return fail(lost("the session's container is gone"));
  }
  names.report(*outcome);
  if (options.receipt) {
    outcome->receipt = make_receipt(plan, container.tried());
    outcome->receipt.layers["image"] = container.image_id();
  }
  outcome->receipt.run_id = run_id;
  outcome->not_recorded = std::move(not_recorded);
  record_end(options, *outcome, digest(plan), run_id);
  return outcome;
}

}  // namespace harn::sandbox

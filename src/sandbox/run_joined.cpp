// SPDX-License-Identifier: Apache-2.0
#include "sandbox/run_joined.h"

#include <algorithm>

#include "run/own_process.h"
#include "run/quiet_pipes.h"
#include "run/run_id.h"
#include "run/supervise.h"
#include "run/tree_limits.h"
#include "sandbox/appeared.h"
#include "sandbox/receipt.h"
#include "sandbox/record.h"
#include "sandbox/timing.h"

namespace harn::sandbox {

Status check_keepable(const Plan& plan) {
  const auto* linux = std::get_if<LinuxConfinement>(&plan.confinement);
  const auto cannot = [](std::string message, std::string hint) {
    return fail(Error{.code = ErrorCode::not_supported, .stage = Stage::prepare, .message = std::move(message), .hint = std::move(hint)});
  };
  if (plan.route != Route::confined || linux == nullptr || !linux->view || linux->supervisor)
    return cannot("a session is kept by a view of backend 'linux', and this plan has none",
                  "'harn doctor' says what user namespaces need here");
  return {};
}

namespace {

// Somebody who looks on at the relay; nobody where it is gone: nothing is reached then, and that is told.
std::optional<RelayLink> look_on(const Joined& joined) {
  if (!joined.relay) return std::nullopt;
  auto link = RelayLink::open(*joined.relay);
  if (!link || !link->watch()) return std::nullopt;
  return std::move(*link);
}

void report_hosts(const Joined& joined, const std::optional<RelayLink>& relay, Outcome& outcome) {
  if (relay) relay->report(outcome);
  else if (joined.relay)
    outcome.relay_lost = "the session's relay is gone, and nothing is reached: name its hosts again ('harn session network')";
}

}  // namespace

Result<Outcome> run_joined(const Plan& plan, const RunOptions& options, const Joined& joined) {
  const auto start = Clock::now();
  const auto run_id = options.run_id.empty() ? run::make_run_id() : options.run_id;
  HARN_TRY(connection, joined.line != nullptr ? joined.line->take(joined.directory) : run::reserve_in(joined.directory));
  HARN_TRY(stdio,
           run::open_stdio({.streams = options.streams, .input = options.input, .count_output = plan.limits.max_output_bytes.has_value()}));
  HARN_TRY(tree, run::TreeLimits::open(plan.limits, run_id, joined.cgroups));
  run::OwnProcess own;
  std::optional<run::QuietPipes> quiet;
  if (options.whole_process) HARN_OK(own.take_over());
  else quiet.emplace();
  auto proofs = joined.proofs;
  if (joined.narrower && std::ranges::find(proofs, Dimension::network) == proofs.end()) proofs.push_back(Dimension::network);
  auto receipt = options.receipt ? make_receipt(plan, proofs) : Receipt{};
  receipt.run_id = run_id;
  receipt.timings_us["prepare"] = micros_since(start);

  // The session gets it ready while we write down that it starts; it waits for the word.
  HARN_TRY(asked, run::ask_to_join(plan, {.directory = joined.directory,
                                          .stdio = stdio.child,
                                          .cgroups = tree.join_files(),
                                          .keeps_processes = joined.keeps_processes,
                                          .narrower = joined.narrower ? &*joined.narrower : nullptr,
                                          .own_terminal = joined.own_terminal,
                                          .connection = std::move(connection),
                                          .waits = true}));
  const auto names = NameWatch::before(plan, options.workspace);
  const auto relay = look_on(joined);
  HARN_TRY(not_recorded, record_start(plan, options, run_id));
  const auto spawning = Clock::now();
  auto spawned = run::start_asked(std::move(asked));
  if (!spawned) record_no_start(options, spawned.error(), run_id);
  if (joined.line != nullptr) joined.line->renew(joined.directory);
  HARN_TRY(process, std::move(spawned));
  receipt.timings_us["spawn"] = micros_since(spawning);
  tree.watch(process, /*orphans=*/false);

  const auto running = Clock::now();
  auto supervised = run::supervise(std::move(process), std::move(stdio),
                                   {.limits = plan.limits,
                                    .captured_bytes = options.captured_bytes,
                                    .on_output = options.on_output,
                                    .signal_fd = own.signal_fd(),
                                    .stop_fd = options.stop_fd,
                                    .check = tree.check(),
                                    .shared_memory = tree.shared_memory(),
                                    .kill_tree = tree.killer()});
  if (!supervised) record_no_start(options, supervised.error(), run_id);
  HARN_TRY(outcome, std::move(supervised));
  receipt.timings_us["run"] = micros_since(running);
  tree.report(outcome);
  names.report(outcome);
  report_hosts(joined, relay, outcome);
  outcome.not_recorded = std::move(not_recorded);
  record_end(options, outcome, options.receipt ? receipt.plan_digest : joined.plan_digest, run_id);
  outcome.receipt = std::move(receipt);
  return outcome;
}

}  // namespace harn::sandbox

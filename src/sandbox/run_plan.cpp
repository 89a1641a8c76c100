// SPDX-License-Identifier: Apache-2.0
// The facade: strings prepare, spawn and supervise together and writes the receipt. Owns no
// mechanism.
#include <sys/resource.h>

#include <fmt/format.h>

#include "base/text.h"
#include "harn/sandbox.h"
#include "plan/names.h"
#include "run/launch.h"
#include "run/own_process.h"
#include "run/quiet_pipes.h"
#include "run/run_id.h"
#include "run/scratch.h"
#include "run/stdio.h"
#include "run/supervise.h"
#include "run/terminal.h"
#include "run/tree_limits.h"
#include "sandbox/admit.h"
#include "sandbox/appeared.h"
#include "sandbox/complete.h"
#include "sandbox/receipt.h"
#include "sandbox/record.h"
#include "sandbox/relay_process.h"
#include "sandbox/run_container.h"
#include "sandbox/timing.h"
#include "sandbox/wasm_module.h"
#include "sys/files.h"

namespace harn {
namespace {

using sandbox::Clock;
using sandbox::micros_since;

bool is_container(const Plan& plan) {
  return (plan.backend == Backend::docker || plan.backend == Backend::podman) && std::holds_alternative<Wrapper>(plan.confinement);
}

Status check_runnable(const Plan& plan) {
  HARN_OK(sandbox::check_admitted(plan));
  const bool here = std::holds_alternative<NoConfinement>(plan.confinement) || plan.backend == Backend::linux ||
                    plan.backend == Backend::bubblewrap || plan.backend == Backend::firejail || is_container(plan);
  if (here && plan.route == Route::wasi && plan.wasi) return sandbox::check_module(plan.wasi->module);
  if (here && plan.route != Route::wasi) return {};
  return fail(Error{.code = ErrorCode::not_supported,
                    .stage = Stage::prepare,
                    .message = fmt::format("a plan for {} cannot be run here", base::enum_name(plan.backend)),
                    .hint = "leave --backend out, or name linux, bubblewrap, firejail, docker or podman"});
}

// A process begins with the figures of who started it, so what is no larger than ours says nothing.
void forget_our_memory(Usage& usage) {
  rusage own = {};
  ::getrusage(RUSAGE_SELF, &own);
  if (usage.max_memory_bytes <= static_cast<std::uint64_t>(own.ru_maxrss) * 1024) usage.max_memory_bytes = 0;
}

// Somebody else's program cannot collect orphans: its other children are not ours. Without something of the
// kernel's that holds the whole tree, that is said.
void name_orphans(const Plan& plan, const run::Process& process, Receipt& receipt) {
  if (process.has_init() || !plan.limits.cgroup.empty() || std::holds_alternative<Wrapper>(plan.confinement)) return;
  receipt.gaps.push_back({.dimension = Dimension::processes,
                          .code = "outlives_run",
                          .paths = {},
                          .detail = "processes that leave the command's process group outlive the run",
                          .remedy = "allow pid namespaces, or give Harn a delegated cgroup; the harn program ends them"});
}

Result<run::Scratch> scratch_for(const Plan& plan) { return plan.scratch ? run::Scratch::make(*plan.scratch) : run::Scratch(); }

std::string digest_for_record(const Plan& plan, const RunOptions& options, const Receipt& receipt) {
  return options.audit == nullptr || options.receipt ? receipt.plan_digest : digest(plan);
}

// What went wrong after its start was recorded is its end.
template <class T>
Result<T> or_recorded(Result<T> result, const RunOptions& options, const std::string& run_id) {
  if (!result) sandbox::record_no_start(options, result.error(), run_id);
  return result;
}

run::Attended attended_by(const RunOptions& options) {
  if (!options.attend) return {};
  return {.fd = options.attend_fd, .attend = [&options] {
            options.attend();
            return true;
          }};
}

run::Session session_for(const run::Stdio& stdio, const RunOptions& options) {
  if (stdio.terminal_fd < 0 || !options.whole_process) return run::Session::own;
  return run::in_foreground(stdio.terminal_fd) ? run::Session::terminal : run::Session::group;
}

}  // namespace

Result<Outcome> run_plan(const Plan& plan, const RunOptions& options) {
  const auto start = Clock::now();
  HARN_OK(check_runnable(plan));
  if (is_container(plan)) return sandbox::run_container(plan, options);
  const auto run_id = options.run_id.empty() ? make_run_id() : options.run_id;
  HARN_TRY(stdio,
           run::open_stdio({.streams = options.streams, .input = options.input, .count_output = plan.limits.max_output_bytes.has_value()}));
  HARN_TRY(scratch, scratch_for(plan));
  HARN_TRY(tree, run::TreeLimits::open(plan.limits, run_id));
  run::OwnProcess own;
  std::optional<run::QuietPipes> quiet;
  if (options.whole_process) HARN_OK(own.take_over());
  else quiet.emplace();
  const auto session = session_for(stdio, options);
  HARN_TRY(relay, sandbox::RelayProcess::start(plan, options));
  HARN_TRY(prepared, run::prepare(plan, {.stdio = stdio.child,
                                         .session = session,
                                         .terminal_fd = stdio.terminal_fd,
                                         .die_with_thread = options.whole_process,
                                         .hide_launcher = options.whole_process,
                                         .cgroups = tree.join_files(),
                                         .canary = options.canary,
                                         .relay_channel = relay.channel(),
                                         .relay = relay.reach()}));
  auto receipt = options.receipt ? sandbox::make_receipt(plan, prepared.proofs()) : Receipt{};
  receipt.run_id = run_id;
  receipt.timings_us["prepare"] = micros_since(start);

  const auto names = sandbox::NameWatch::before(plan, options.workspace);
  HARN_TRY(not_recorded, sandbox::record_start(plan, options, run_id));
  const auto spawning = Clock::now();
  HARN_TRY(process, or_recorded(run::spawn(std::move(prepared)), options, run_id));
  receipt.timings_us["spawn"] = micros_since(spawning);
  tree.watch(process, options.whole_process);
  if (!options.whole_process) name_orphans(plan, process, receipt);
  // The command runs meanwhile.
  const auto plan_digest = digest_for_record(plan, options, receipt);

  const auto running = Clock::now();
  auto supervised = run::supervise(std::move(process), std::move(stdio),
                                   {.limits = plan.limits,
                                    .session = session,
                                    .captured_bytes = options.captured_bytes,
                                    .on_output = options.on_output,
                                    .on_input = options.on_input,
                                    .on_refusal = options.on_refusal,
                                    .on_question = options.on_question,
                                    .attended = {attended_by(options), relay.attended(options.on_host_question)},
                                    .signal_fd = own.signal_fd(),
                                    .stop_fd = options.stop_fd,
                                    .reaper = options.whole_process,
                                    .check = tree.check(),
                                    .shared_memory = tree.shared_memory(),
                                    .before_orphans = [&relay] { relay.end(); },
                                    .kill_tree = tree.killer()});
  HARN_TRY(outcome, or_recorded(std::move(supervised), options, run_id));
  receipt.timings_us["run"] = micros_since(running);
  if (!options.whole_process) forget_our_memory(outcome.usage);
  tree.report(outcome);
  names.report(outcome);
  relay.report(outcome);
  outcome.not_recorded = std::move(not_recorded);
  sandbox::complete(options, outcome, std::move(receipt), plan_digest);
  return outcome;
}

}  // namespace harn

// SPDX-License-Identifier: Apache-2.0
// The facade on Windows: admits a plan, launches it verified, supervises it, takes back what was changed and writes the
// receipt. What an option asks for that does not exist here is refused, not ignored.
#include <windows.h>

#include <fmt/format.h>

#include "harn/sandbox.h"
#include "plan/names.h"
#include "run/windows/os/real_calls.h"
#include "run/windows/os/supervise.h"
#include "sandbox/admit.h"
#include "sandbox/receipt.h"
#include "sandbox/timing.h"

namespace harn {
namespace {

namespace windows = run::windows;
using sandbox::Clock;
using sandbox::micros_since;

std::unexpected<Error> not_here(std::string message, std::string hint) {
  return fail(Error{.code = ErrorCode::not_supported, .stage = Stage::prepare, .message = std::move(message), .hint = std::move(hint)});
}

Status check_runnable(const Plan& plan, const RunOptions& options) {
  HARN_OK(sandbox::check_admitted(plan));
  const bool direct = plan.route == Route::direct && std::holds_alternative<NoConfinement>(plan.confinement);
  const bool confined = plan.route == Route::confined && std::holds_alternative<AppContainer>(plan.confinement);
  if (!direct && !confined)
    return not_here(fmt::format("a plan for {} cannot be run here", base::enum_name(plan.backend)), "leave --backend out, or name windows");
  if (options.on_refusal || options.on_question || options.attend_fd >= 0 || options.stop_fd >= 0 || options.on_input)
    return not_here("explaining, asking, recording and stopping from outside do not exist on Windows", "leave it out");
  if (options.audit != nullptr) return not_here("there is no audit log on Windows", "leave it out");
  // SPEC: where nothing can be recorded, the strict profile does not run.
  if (plan.profile == Profile::os_hardened && confined)
    return fail(Error{.code = ErrorCode::refused,
                      .stage = Stage::audit,
                      .message = "profile 'os_hardened' runs nothing that is not recorded, and there is no audit log on Windows yet",
                      .hint = "use profile 'worktree'"});
  return {};
}

// Ctrl-C and the closing of the console end the command, and what was changed for it is taken back.
HANDLE stop_event = nullptr;
BOOL WINAPI on_console_event(DWORD) {
  ::SetEvent(stop_event);
  return TRUE;
}

class ConsoleStop {
 public:
  explicit ConsoleStop(bool wanted) {
    if (!wanted) return;
    event_ = windows::UniqueHandle(::CreateEventW(nullptr, TRUE, FALSE, nullptr));
    stop_event = event_.get();
    ::SetConsoleCtrlHandler(on_console_event, TRUE);
  }
  ConsoleStop(const ConsoleStop&) = delete;
  ConsoleStop& operator=(const ConsoleStop&) = delete;
  ~ConsoleStop() {
    if (event_) ::SetConsoleCtrlHandler(on_console_event, FALSE);
  }
  HANDLE event() const { return event_.get(); }

 private:
  windows::UniqueHandle event_ = {};
};

windows::JobLimits job_limits_of(const Plan& plan, const windows::Calls& calls) {
  const auto* container = std::get_if<AppContainer>(&plan.confinement);
  const auto settings =
      container == nullptr ? windows::bare_job() : windows::job_settings(*container, calls.processors).value_or(windows::bare_job());
  return settings.limits;
}

Result<Outcome> run_launched(const Plan& plan, const RunOptions& options, const windows::Calls& calls, Receipt& receipt) {
  const auto start = Clock::now();
  HARN_TRY(streams, windows::Streams::open({.streams = options.streams,
                                            .input = options.input,
                                            .limit = plan.limits.max_output_bytes,
                                            .captured_bytes = options.captured_bytes,
                                            .on_output = options.on_output}));
  const ConsoleStop stop(options.whole_process);
  HARN_TRY(launched, windows::launch(calls, {.plan = plan,
                                             .streams = streams.child_ends(),
                                             .run_id = receipt.run_id,
                                             .is_file = windows::is_file,
                                             .batch_interpreter = windows::batch_interpreter()}));
  receipt.timings_us["spawn"] = micros_since(start);
  const auto running = Clock::now();
  const auto limits = job_limits_of(plan, calls);
  HARN_TRY(outcome, windows::supervise(launched, std::move(streams), {.limits = plan.limits, .job = limits, .stop = stop.event()}));
  receipt.timings_us["run"] = micros_since(running);
  for (const auto& problem : launched.finish()) {
    receipt.gaps.push_back(
        {.dimension = Dimension::reads, .code = "not_undone", .paths = {}, .detail = problem, .remedy = "run harn again"});
    outcome.error += (outcome.error.empty() ? "" : "; ") + problem;
  }
  for (const auto& note : launched.take_notes())
    receipt.gaps.push_back({.dimension = Dimension::reads, .code = "left_behind", .paths = {}, .detail = note, .remedy = {}});
  return outcome;
}

}  // namespace

Result<Outcome> run_plan(const Plan& plan, const RunOptions& options) {
  HARN_OK(check_runnable(plan, options));
  HARN_TRY(journals, windows::journal_directory());
  const auto calls = windows::real_calls(journals);
  auto receipt = options.receipt ? sandbox::make_receipt(plan, {}) : Receipt{};
  receipt.run_id = options.run_id.empty() ? make_run_id() : options.run_id;
  HARN_TRY(outcome, run_launched(plan, options, calls, receipt));
  outcome.receipt = std::move(receipt);
  return outcome;
}

std::string make_run_id() {
  std::uint64_t number = 0;
  const auto fill = sys::exported<BOOLEAN(WINAPI*)(void*, ULONG)>("advapi32.dll", "SystemFunction036");  // RtlGenRandom
  // A container's name must never have been before: without chance there is none.
  if (!fill || (*fill)(&number, sizeof number) == FALSE) std::abort();
  return fmt::format("run-{:016x}", number);
}

}  // namespace harn

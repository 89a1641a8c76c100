// SPDX-License-Identifier: Apache-2.0
#include "sandbox/attend.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include <fmt/format.h>

#include "base/text.h"
#include "run/ending.h"
#include "run/launch.h"
#include "run/supervise.h"
#include "run/terminal.h"

namespace harn::sandbox {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds watch_start{2};
constexpr milliseconds watch_life{200};
constexpr milliseconds last_bytes{300};  // for the client to pass on what the container wrote

// As "name=soft:hard" among the words for the engine.
std::optional<std::uint64_t> ulimit(const Plan& plan, std::string_view name) {
  for (const std::string_view word : std::get<Wrapper>(plan.confinement).argv) {
    if (!word.starts_with(name) || word.find('=') != name.size()) continue;
    std::uint64_t soft = 0;
    const auto number = word.substr(name.size() + 1);
    if (std::from_chars(number.data(), number.data() + number.size(), soft).ec == std::errc{}) return soft;
  }
  return std::nullopt;
}

Error not_started(const Plan& plan, int error) {
  const auto word = base::quoted(plan.argv.front());
  return {.code = ErrorCode::invalid_command,
          .stage = Stage::spawn,
          .os_error = error,
          .message = error == ENOENT ? word + " was not found in the container" : word + " cannot be executed in the container",
          .hint = "the image brings its own programs; name one of them, or another image with --image"};
}

run::Session session_for(const run::Stdio& stdio, const RunOptions& options) {
  if (stdio.terminal_fd < 0 || !options.whole_process) return run::Session::own;
  return run::in_foreground(stdio.terminal_fd) ? run::Session::terminal : run::Session::group;
}

Error why_not_started(const run::Container& container, const Outcome& outcome) {
  run::Answer answer{.exit_code = outcome.exit_code, .timed_out = outcome.timed_out, .err = outcome.captured_stderr.value_or("")};
  if (answer.err.empty()) answer.err = "it says why in its own words";
  return run::explain(container.client(), container.image(), "start the container", answer);
}

// It was started, and whoever could tell how it ended is gone.
Error lost_command(Error error) {
  error.stage = Stage::supervise;
  error.message = "the command was started and then lost: " + error.message;
  return error;
}

}  // namespace

bool all_terminals(const run::Stdio& stdio) {
  return stdio.terminal_fd >= 0 && std::ranges::all_of(stdio.child, [](int fd) { return ::isatty(fd) == 1; });
}

Error open_doors(unsigned doors) {
  std::vector<std::string> names;
  for (const auto& [door, what] : {std::pair{run::entry::reads, "a file outside could be read"},
                                   {run::entry::writes, "a file outside could be written"},
                                   {run::entry::signals, "harn itself could be signalled"},
                                   {run::entry::network, "a socket could be opened"}})
    if ((doors & static_cast<unsigned>(door)) != 0) names.emplace_back(what);
  if (names.empty())
    return {.code = ErrorCode::refused,
            .stage = Stage::spawn,
            .message = "the container's user cannot write the workspace, although you can: the engine gives it another user",
            .hint = "give the workspace to that user, or use another backend"};
  return {.code = ErrorCode::refused,
          .stage = Stage::spawn,
          .message = "the container does not hold: " + base::join(names, ", "),
          .hint = "the command was not started; 'harn doctor' shows what this host can do"};
}

Result<run::Stdio> Attendant::open() {
  HARN_TRY(stdio, run::open_stdio(
                      {.streams = options_.streams, .input = options_.input, .count_output = plan_.limits.max_output_bytes.has_value()}));
  if (options_.whole_process) HARN_OK(own_.take_over(/*orphans=*/false));
  else quiet_.emplace();
  return stdio;
}

Result<Outcome> Attendant::attend(run::Container& container, run::ReportPipe& report, std::vector<std::string> words, run::Stdio stdio) {
  Plan client{.route = Route::direct, .argv = std::move(words), .cwd = AbsPath::of("/")};
  client.env.variables = container.client().environment;
  client.env.variables.insert(plan_.env.variables.begin(), plan_.env.variables.end());
  const auto session = session_for(stdio, options_);
  HARN_TRY(
      prepared,
      run::prepare(
          client, {.stdio = stdio.child, .session = session, .terminal_fd = stdio.terminal_fd, .die_with_thread = options_.whole_process}));
  HARN_TRY(process, run::spawn(std::move(prepared)));
  client_ = process.pidfd();
  const auto look = [&report] {
    report.look();
    return run::Reading{.started = report.ready(), .end = report.doors() != 0, .again = report.ready() ? watch_life : watch_start};
  };
  HARN_TRY(outcome, run::supervise(std::move(process), std::move(stdio),
                                   {.limits = plan_.limits,
                                    .session = session,
                                    .captured_bytes = options_.captured_bytes,
                                    .on_output = options_.on_output,
                                    .on_input = options_.on_input,
                                    .signal_fd = own_.signal_fd(),
                                    .stop_fd = options_.stop_fd,
                                    .start_within = milliseconds(run::engine_patience),
                                    .check = look,
                                    .kill_tree = [&] { end(container, report); }}));
  return settle(container, report, std::move(outcome));
}

// The program inside ends everybody when nobody listens to it. Also called when the client is gone
// already, and then nothing is left to wait for.
void Attendant::end(run::Container& container, run::ReportPipe& report) {
  report.look();
  report.close();
  if (std::exchange(ended_, true) || report.ended()) return;
  pollfd client = {.fd = client_, .events = POLLIN, .revents = 0};
  if (::poll(&client, 1, static_cast<int>(last_bytes.count())) == 0) container.end();
}

Result<Outcome> Attendant::settle(run::Container& container, const run::ReportPipe& report, Outcome outcome) const {
  if (report.doors() != 0) return fail(open_doors(report.doors()));
  if (!report.ready()) return fail(why_not_started(container, outcome));
  if (report.not_started()) return fail(not_started(plan_, report.not_started()->error));
  const auto& last = report.ended();
  bool out_of_memory = last && last->oom_kills > 0;
  // Without last words the first program was ended too: by us, by the kernel, or by somebody outside.
  if (!last && !outcome.timed_out && !outcome.cancelled) {
    auto state = container.state();
    if (!state) return fail(lost_command(std::move(state).error()));
    out_of_memory = state->oom_killed;
  }
  run::settle_ending({.wait_status = last ? last->status : SIGKILL,
                      .deadline_passed = outcome.timed_out,
                      .cpu_spent = last && last->cpu_spent != 0,
                      .memory_spent = out_of_memory,
                      .processes_spent = last && last->refused_forks > 0,
                      .cpu_limited = ulimit(plan_, "cpu").has_value(),
                      .file_size_limit = ulimit(plan_, "fsize"),
                      .written_bytes = last ? std::max(last->bytes_out, last->blocks_out * run::block_bytes) : 0},
                     outcome);
  outcome.usage.cpu_ms = last ? last->cpu_us / 1000 : 0;
  outcome.usage.max_memory_bytes = last ? last->max_rss_kb * 1024 : 0;
  outcome.usage.written_bytes = last ? last->blocks_out * run::block_bytes : 0;
  outcome.killed_processes = last ? last->killed : 0;
  return outcome;
}

}  // namespace harn::sandbox

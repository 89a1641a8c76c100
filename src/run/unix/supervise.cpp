// SPDX-License-Identifier: Apache-2.0
#include "run/unix/supervise.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "run/ending.h"
#include "run/outputs.h"
#include "run/terminal.h"
#include "run/unix/tree.h"
#include "sys/descriptors.h"
#include "sys/files.h"

namespace harn::run {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr pollfd nothing = {.fd = -1, .events = 0, .revents = 0};
constexpr milliseconds grace{250};        // between asking a command to end and ending it
constexpr milliseconds drain_time{1000};  // for somebody to take the rest of the output when the time is over
constexpr milliseconds first_look{5};
constexpr milliseconds longest_between_looks{100};

class Supervisor {
 public:
  Supervisor(const Watching& watching, Stdio stdio)
      : watching_(watching),
        tree_(watching.leader),
        terminal_(stdio.terminal_fd, watching.has_terminal, stdio.terminal_settings),
        outputs_(stdio, {watching.limits.max_output_bytes, watching.options.captured_bytes, watching.options.on_output}) {
    if (stdio.streams[0] == Stream::capture) in_ = InputPump(std::move(stdio.input), std::move(stdio.our_ends[0]));
    else if (stdio.our_ends[0]) in_ = InputPump(stdio.inherited[0], std::move(stdio.our_ends[0]), std::move(stdio.child_ends[0]));
    if (watching.options.on_input && stdio.streams[0] == Stream::tap) in_.tell(watching.options.on_input);
    for (auto& end : stdio.child_ends) end = {};  // the command has its own
    if (watching.limits.wall_time_ms) deadline_ = started_ + milliseconds(*watching.limits.wall_time_ms);
  }

  Result<Outcome> run() {
    while (!ended_) HARN_OK(wait_once());
    finished_ = Clock::now();
    end_tree();
    in_.give_back();
    terminal_.take_back();
    if (stopped_by_us() || WIFSIGNALED(status_)) terminal_.restore_settings();
    outputs_.flush(watching_.signal_fd, stopped_by_us() ? std::optional(Clock::now() + drain_time) : std::nullopt);
    if (const int error = outputs_.write_error(); error != 0)
      return fail(sys::os_failure("write", "the command's output", error, Stage::supervise));
    return outcome();
  }

 private:
  bool stopped_by_us() const { return timed_out_ || cancelled_ || !spent_.empty(); }

  Status wait_once() {
    enum : std::size_t {
      signals,
      stop,
      input,
      output,
      errors,
      attention,
      count
    };
    pollfd fds[count] = {};
    fds[signals] = {.fd = watching_.signal_fd, .events = POLLIN, .revents = 0};
    fds[stop] = {.fd = asked_ ? -1 : watching_.options.stop_fd, .events = POLLIN, .revents = 0};
    fds[input] = in_.open() ? in_.interest() : nothing;
    outputs_.interest(std::span<pollfd, 2>(&fds[output], 2));
    fds[attention] = {.fd = watching_.options.attend_fd, .events = POLLIN, .revents = 0};
    if (::poll(fds, count, timeout()) < 0) {
      if (errno != EINTR) return fail(sys::os_failure("poll", "the command", errno, Stage::supervise));
      for (auto& fd : fds) fd.revents = 0;  // the signal is in the pipe by now
    }
    in_.work(fds[input].revents);
    outputs_.work(std::span<const pollfd, 2>(&fds[output], 2));
    if (fds[attention].revents != 0 && watching_.options.attend) watching_.options.attend();
    pass_signals();
    HARN_OK(look_at_command());
    if (fds[stop].revents != 0 && !ended_) {
      cancelled_ = true;
      ask_to_end();
    }
    if (!ended_) keep_limits();
    return {};
  }

  int timeout() const {
    auto next = next_look_;
    if (deadline_) next = std::min(next, *deadline_);
    const auto left = std::chrono::ceil<milliseconds>(next - Clock::now()).count();
    return static_cast<int>(std::clamp<long long>(left, 0, 1 << 30));
  }

  void pass_signals() {
    while (const int number = sys::next_signal(watching_.signal_fd)) {
      if (number == SIGCHLD) continue;
      if (number == SIGCONT) terminal_.lend(watching_.leader);
      ::kill(-watching_.leader, number);
    }
  }

  // Only looked at: as long as nobody reaps it, its number and that of its group are nobody else's.
  Status look_at_command() {
    siginfo_t seen = {};
    if (::waitid(P_PID, static_cast<id_t>(watching_.leader), &seen, WEXITED | WNOHANG | WNOWAIT) != 0) {
      if (errno == EINTR) return {};
      return fail(sys::os_failure("waitid", "the command", errno, Stage::supervise));
    }
    if (seen.si_pid == watching_.leader) {
      ended_ = true;
      return {};
    }
    int status = 0;
    if (::waitpid(watching_.leader, &status, WNOHANG | WUNTRACED) == watching_.leader && WIFSTOPPED(status)) stop_along();
    return {};
  }

  // A command that was stopped for reading while we had the foreground only needs to be given it.
  void stop_along() {
    if (!terminal_.lend(watching_.leader)) terminal_.stop_along();
    else ::kill(-watching_.leader, SIGCONT);
  }

  void keep_limits() {
    const auto now = Clock::now();
    if (now >= next_look_) look_at_tree(now);
    if (!deadline_ || now < *deadline_) return;
    if (asked_) {
      tree_.signal(SIGKILL);
      deadline_ = now + grace;
      return;
    }
    timed_out_ = true;
    ask_to_end();
  }

  // Often at first, while a command starts others; later a look costs more than it tells.
  void look_at_tree(Clock::time_point now) {
    const auto used = tree_.look();
    most_ = {.processes = std::max(most_.processes, used.processes),
             .resident_bytes = std::max(most_.resident_bytes, used.resident_bytes),
             .cpu_ms = std::max(most_.cpu_ms, used.cpu_ms)};
    between_looks_ = std::min(between_looks_ * 2, watching_.limits.watched.empty() ? longest_between_looks : longest_between_looks / 4);
    next_look_ = now + between_looks_;
    if (!spent_.empty()) return;
    spent_ = Tree::passed(used, watching_.limits);
    if (spent_.empty()) return;
    asked_ = true;
    tree_.signal(SIGKILL);
    deadline_ = now + grace;
  }

  void ask_to_end() {
    asked_ = true;
    tree_.look();
    tree_.signal(SIGTERM);
    tree_.signal(SIGCONT);
    deadline_ = Clock::now() + grace;
  }

  void end_tree() {
    killed_ = tree_.end_all();
    rusage used = {};
    while (::wait4(watching_.leader, &status_, 0, &used) < 0 && errno == EINTR) {
    }
    add_usage(used, usage_);
    if (const auto left = tree_.left(); left > 0)
      error_ = fmt::format("{} process(es) of the command could not be ended and may still run", left);
  }

  Outcome outcome() {
    Outcome outcome;
    const auto limit = [&](std::string_view name) -> std::optional<std::uint64_t> {
      const auto found = std::ranges::find(watching_.limits.rlimits, name, &ResourceLimit::name);
      if (found == watching_.limits.rlimits.end()) return std::nullopt;
      return found->soft;
    };
    settle_ending({.wait_status = status_,
                   .deadline_passed = timed_out_,
                   .cpu_spent = spent_ == "cpu_seconds",
                   .memory_spent = spent_ == "memory_bytes",
                   .processes_spent = spent_ == "processes",
                   .cpu_limited = limit("cpu").has_value(),
                   .file_size_limit = limit("fsize"),
                   .written_bytes = usage_.written_bytes},
                  outcome);
    outcome.usage = usage_;
    outcome.usage.cpu_ms = std::max(usage_.cpu_ms, most_.cpu_ms);
    outcome.usage.max_memory_bytes = std::max(usage_.max_memory_bytes, most_.resident_bytes);
    outcome.usage.processes = most_.processes;
    outcome.usage.wall_ms = static_cast<std::uint64_t>(std::chrono::duration_cast<milliseconds>(finished_ - started_).count());
    outcome.cancelled = cancelled_;
    outcome.killed_processes = killed_;
    outcome.error = error_;
    outputs_.hand_over(outcome);
    return outcome;
  }

  const Watching& watching_;
  Tree tree_;
  TerminalLoan terminal_;
  Outputs outputs_;
  InputPump in_ = {};
  Clock::time_point started_ = Clock::now();
  Clock::time_point finished_ = started_;
  milliseconds between_looks_ = first_look;
  Clock::time_point next_look_ = started_ + first_look;
  std::optional<Clock::time_point> deadline_ = {};
  int status_ = 0;
  bool ended_ = false;
  bool timed_out_ = false;
  bool cancelled_ = false;
  bool asked_ = false;  // the command was asked to end
  std::string spent_ = {};
  TreeUsage most_ = {};
  std::uint64_t killed_ = 0;
  std::string error_ = {};
  Usage usage_ = {};
};

}  // namespace

Result<Outcome> supervise(const Watching& watching, Stdio stdio) { return Supervisor(watching, std::move(stdio)).run(); }

}  // namespace harn::run

// SPDX-License-Identifier: Apache-2.0
#include "run/supervise.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "run/ending.h"
#include "run/init/protocol.h"
#include "run/outputs.h"
#include "run/refusals.h"
#include "run/stop_tree.h"
#include "run/terminal.h"
#include "run/wrapper_report.h"
#include "sys/files.h"

namespace harn::run {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr pollfd nothing = {.fd = -1, .events = 0, .revents = 0};
constexpr std::size_t named_at_most = 8;
constexpr milliseconds grace{250};        // between asking a command to end and ending it
constexpr milliseconds drain_time{1000};  // for somebody to take the rest of the output when the time is over
constexpr milliseconds sweep_time{2000};  // for the init program to end what is left; then the kernel does

class Supervisor {
 public:
  Supervisor(Process process, Stdio stdio, const SuperviseSettings& settings)
      : process_(std::move(process)),
        settings_(settings),
        terminal_(settings.session == Session::own ? -1 : stdio.terminal_fd, settings.session == Session::terminal,
                  stdio.terminal_settings),
        outputs_(stdio, {settings.limits.max_output_bytes, settings.captured_bytes, settings.on_output}) {
    if (stdio.streams[0] == Stream::capture) in_ = InputPump(std::move(stdio.input), std::move(stdio.our_ends[0]));
    else if (stdio.our_ends[0]) in_ = InputPump(stdio.inherited[0], std::move(stdio.our_ends[0]), std::move(stdio.child_ends[0]));
    if (settings.on_input && stdio.streams[0] == Stream::tap) in_.tell(settings.on_input);
    for (auto& end : stdio.child_ends) end = {};  // the command has its own
    for (std::size_t i = 0; i < attended_.size(); ++i) attended_[i] = settings.attended[i].fd;
    if (settings.start_within) deadline_ = started_ + *settings.start_within;
    else begin_time();
  }

  Result<Outcome> run() {
    while (!over_) HARN_OK(wait_once());
    finish_tree();
    in_.give_back();
    terminal_.take_back();
    outputs_.flush(settings_.signal_fd, last_moment());
    if (wrapper_failed()) return fail(no_sandbox_made(outputs_.take_errors()));
    if (const int error = outputs_.write_error(); error != 0)
      return fail(sys::os_failure("write", "the command's output", error, Stage::supervise));
    return outcome();
  }

 private:
  void begin_time() {
    deadline_.reset();
    if (settings_.limits.wall_time_ms) deadline_ = started_ + milliseconds(*settings_.limits.wall_time_ms);
  }

  Status wait_once() {
    enum : std::size_t {
      life,
      signals,
      stop,
      input,
      output,
      errors,
      refusals,
      attended,
      count = attended + std::tuple_size_v<decltype(SuperviseSettings::attended)>
    };
    pollfd fds[count] = {};
    fds[life] = {.fd = process_.has_init() ? process_.status_fd() : process_.pidfd(), .events = POLLIN, .revents = 0};
    fds[signals] = {.fd = settings_.signal_fd, .events = POLLIN, .revents = 0};
    fds[stop] = {.fd = asked_to_end_ ? -1 : settings_.stop_fd, .events = POLLIN, .revents = 0};
    fds[input] = in_.open() ? in_.interest() : nothing;
    outputs_.interest(std::span<pollfd, 2>(&fds[output], 2));
    fds[refusals] = {.fd = ended_ ? -1 : process_.refusals_fd(), .events = POLLIN, .revents = 0};
    for (std::size_t i = 0; i < attended_.size(); ++i) fds[attended + i] = {.fd = attended_[i], .events = POLLIN, .revents = 0};
    if (::poll(fds, count, timeout()) < 0 && errno != EINTR) return fail(sys::os_failure("poll", "the command", errno, Stage::supervise));
    in_.work(fds[input].revents);
    outputs_.work(std::span<const pollfd, 2>(&fds[output], 2));
    if (fds[refusals].revents != 0) take_refusals(/*all=*/false);
    for (std::size_t i = 0; i < attended_.size(); ++i)
      if (fds[attended + i].revents != 0 && !settings_.attended[i].attend()) attended_[i] = -1;
    if (fds[signals].revents != 0) pass_signals();
    else if (more_orphans_) look_at_children();
    if (fds[life].revents != 0) HARN_OK(look_at_life());
    if (fds[stop].revents != 0 && !over_ && !ended_) {
      cancelled_ = true;
      ask_to_end();
    }
    if (!over_) keep_limits();
    return {};
  }

  int timeout() const {
    if (more_orphans_) return 0;
    auto next = Clock::time_point::max();
    if (deadline_) next = std::min(next, *deadline_);
    if (settings_.check) next = std::min(next, next_check_);
    if (next == Clock::time_point::max()) return -1;
    const auto left = std::chrono::ceil<milliseconds>(next - Clock::now()).count();
    return static_cast<int>(std::clamp<long>(left, 0, 1 << 30));
  }

  void pass_signals() {
    signalfd_siginfo arrived = {};
    while (::read(settings_.signal_fd, &arrived, sizeof arrived) == static_cast<ssize_t>(sizeof arrived)) {
      const auto number = static_cast<int>(arrived.ssi_signo);
      if (number == SIGCHLD) look_at_children();
      else if (number == SIGCONT) go_on();
      else process_.signal(number);
    }
  }

  // Without an init program a stopped command is seen here, and orphans end here.
  void look_at_children() {
    if (process_.has_init()) return;
    if (settings_.reaper) more_orphans_ = reap_orphans(process_.pid(), [this](const rusage& used) { add_usage(used, usage_); });
    siginfo_t seen = {};
    if (::waitid(P_PID, static_cast<id_t>(process_.pid()), &seen, WSTOPPED | WNOHANG) == 0 && seen.si_pid != 0) stop_along();
  }

  // A command that was stopped for reading while we had the foreground only needs to be given it.
  void stop_along() {
    if (terminal_.lend(command_group())) resume();
    else terminal_.stop_along();
  }

  void go_on() {
    terminal_.lend(command_group());
    resume();
  }

  // The init program answers, so that a stop it told of before is known to be over.
  void resume() {
    process_.signal(SIGCONT, /*everybody=*/true);
    if (process_.has_init()) ++resuming_;
  }

  // The command leads a group; the init program has no other child that is older.
  pid_t command_group() const {
    if (!process_.has_init()) return process_.pid();
    const auto children = children_of(process_.pid());
    return children.empty() ? 0 : children.front();
  }

  Status look_at_life() {
    if (!process_.has_init()) return end_direct();
    take_record();
    return {};
  }

  void take_record() {
    init::Record record;
    const ssize_t got = ::read(process_.status_fd(), &record, sizeof record);
    if (got < 0 && errno == EINTR) return;
    if (got != static_cast<ssize_t>(sizeof record)) {  // init is gone without a word: somebody killed it
      over_ = true;
      if (!ended_) wait_status_ = SIGKILL;
      return;
    }
    if (record.kind == init::Record::resumed) {
      --resuming_;
      return;
    }
    if (record.kind == init::Record::stopped) {
      if (resuming_ == 0) stop_along();
      return;
    }
    if (record.kind == init::Record::measured) return take_measure(record);
    if (record.kind == init::Record::ended) {
      ended_ = true;
      wait_status_ = record.status;
      finished_ = Clock::now();
      deadline_ = finished_ + sweep_time;
      return;
    }
    over_ = true;
    killed_ = record.killed;
    usage_.cpu_ms = record.cpu_us / 1000;
    usage_.max_memory_bytes = record.max_rss_kb * 1024;
    usage_.written_bytes = record.blocks_out * block_bytes;
    bytes_out_ = record.bytes_out;
  }

  void take_refusals(bool all) {
    constexpr int at_once = 64;
    const int fd = process_.refusals_fd();
    while (hand_on_refusals(fd, {settings_.on_refusal, settings_.on_question}, at_once) && all) {
    }
  }

  void ask_measure() {
    if (!settings_.shared_memory || measuring_) return;
    measuring_ = true;
    process_.measure();
  }

  void take_measure(const init::Record& record) {
    measuring_ = false;
    static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    if (settings_.shared_memory) settings_.shared_memory(record.shared_pages * page);
  }

  Status end_direct() {
    rusage used = {};
    int status = 0;
    const pid_t pid = ::wait4(process_.pid(), &status, __WALL | WNOHANG, &used);
    // A program around us that ignores SIGCHLD, or waits for every child there is, took it away.
    if (pid < 0 && errno == ECHILD) {
      process_.kill();  // whoever is left of its group
      process_.forget();
      return fail(Error{.code = ErrorCode::os,
                        .stage = Stage::supervise,
                        .os_error = ECHILD,
                        .message = "the command ran, but how it ended was taken by somebody else in this process",
                        .hint = "let SIGCHLD have its default action, and wait for children by their pid"});
    }
    if (pid != process_.pid()) return {};
    over_ = ended_ = true;
    wait_status_ = status;
    finished_ = Clock::now();
    add_usage(used, usage_);
    return {};
  }

  void keep_limits() {
    const auto now = Clock::now();
    if (settings_.check && now >= next_check_) check_tree();
    if (!deadline_ || now < *deadline_) return;
    if (ended_ || asked_to_end_) {
      end_now();
      return;
    }
    timed_out_ = true;
    ask_to_end();
  }

  void ask_to_end() {
    asked_to_end_ = true;
    process_.signal(SIGTERM, /*everybody=*/true);
    deadline_ = Clock::now() + grace;
  }

  void check_tree() {
    Reading reading;
    if (!ended_ && spent_ == Spent::nothing) {
      ask_measure();
      reading = settings_.check();
      if (reading.started && settings_.start_within && !began_) {
        began_ = true;
        started_ = Clock::now();
        begin_time();
      }
      if (reading.end) end_now();
      stop_for(reading.spent);
    }
    next_check_ = Clock::now() + reading.again;
  }

  void stop_for(Spent spent) {
    if (spent == Spent::nothing) return;
    spent_ = spent;
    asked_to_end_ = true;
    end_now();
  }

  void end_now() {
    if (settings_.kill_tree) settings_.kill_tree();
    const bool by_supervisor = process_.has_init() && !process_.holds_everybody() && !ending_;
    if (by_supervisor) process_.kill();
    else process_.kill_holder();
    ending_ = true;
    deadline_.reset();
    if (by_supervisor) deadline_ = Clock::now() + sweep_time;
  }

  // Whatever is left of the tree, however it hid from its parent.
  void finish_tree() {
    if (process_.has_init()) {
      rusage used = {};
      while (::wait4(process_.pid(), nullptr, __WALL, &used) < 0 && errno == EINTR) {
      }
      if (usage_.cpu_ms == 0) add_usage(used, usage_);  // init was ended before it could tell
    }
    if (!process_.holds_everybody()) {
      if (!process_.has_init()) ::kill(-process_.pid(), SIGKILL);
      if (settings_.kill_tree) settings_.kill_tree();
      if (settings_.reaper && settings_.before_orphans) settings_.before_orphans();
      if (settings_.reaper) end_orphans();
    }
    if (process_.refusals_fd() >= 0) take_refusals(/*all=*/true);
    process_.forget();
    if (settings_.check && spent_ == Spent::nothing) spent_ = settings_.check().spent;
    const bool by_us = timed_out_ || cancelled_ || spent_ != Spent::nothing;
    if (by_us || WIFSIGNALED(wait_status_)) terminal_.restore_settings();
  }

  void end_orphans() {
    const auto ended = end_descendants();
    killed_ += ended.killed;
    if (ended.left.empty()) return;
    error_ =
        fmt::format("{} process(es) of the command could not be ended and may still run: {}", ended.left.size(),
                    fmt::join(ended.left.begin(), ended.left.begin() + static_cast<long>(std::min(ended.left.size(), named_at_most)), " "));
  }

  // A wrapper that ended by itself without a word about the command did not get to start it.
  bool wrapper_failed() const {
    if (process_.wrapper_status_fd() < 0 || !WIFEXITED(wait_status_) || timed_out_ || cancelled_ || spent_ != Spent::nothing) return false;
    return !wrapper_started_command(process_.wrapper_status_fd());
  }

  // Who set no time limit waits for the reader of the output as for any other program.
  std::optional<Clock::time_point> last_moment() const {
    if (!settings_.limits.wall_time_ms) return std::nullopt;
    return std::max(Clock::now(), started_ + milliseconds(*settings_.limits.wall_time_ms)) + drain_time;
  }

  Outcome outcome() {
    Outcome outcome;
    const auto limit = [&](std::string_view name) -> std::optional<std::uint64_t> {
      const auto found = std::ranges::find(settings_.limits.rlimits, name, &ResourceLimit::name);
      if (found == settings_.limits.rlimits.end()) return std::nullopt;
      return found->soft;
    };
    if (!ended_) finished_ = Clock::now();
    settle_ending({.wait_status = wait_status_,
                   .deadline_passed = timed_out_,
                   .cpu_spent = spent_ == Spent::cpu,
                   .memory_spent = spent_ == Spent::memory,
                   .processes_spent = spent_ == Spent::processes,
                   .cpu_limited = limit("cpu").has_value(),
                   .file_size_limit = limit("fsize"),
                   .written_bytes = std::max(bytes_out_, usage_.written_bytes)},
                  outcome);
    outcome.usage = usage_;
    outcome.usage.wall_ms = static_cast<std::uint64_t>(std::chrono::duration_cast<milliseconds>(finished_ - started_).count());
    outcome.cancelled = cancelled_;
    outcome.killed_processes = killed_;
    outcome.error = error_;
    outputs_.hand_over(outcome);
    return outcome;
  }

  Process process_;
  const SuperviseSettings& settings_;
  TerminalLoan terminal_;
  Outputs outputs_;
  InputPump in_ = {};
  std::array<int, std::tuple_size_v<decltype(SuperviseSettings::attended)>> attended_ = {};
  Clock::time_point started_ = Clock::now();
  Clock::time_point finished_ = started_;
  Clock::time_point next_check_ = started_;
  std::optional<Clock::time_point> deadline_ = {};
  int wait_status_ = 0;
  std::uint64_t bytes_out_ = 0;
  bool ended_ = false;  // the command itself
  bool over_ = false;   // the tree, as far as anybody reports it
  bool timed_out_ = false;
  bool cancelled_ = false;
  bool asked_to_end_ = false;
  bool began_ = false;
  bool ending_ = false;  // … and no longer asked
  bool measuring_ = false;
  int resuming_ = 0;  // orders to go on that the init program has not answered
  Spent spent_ = Spent::nothing;
  bool more_orphans_ = false;  // than were reaped at once
  std::uint64_t killed_ = 0;
  std::string error_ = {};
  Usage usage_ = {};
};

}  // namespace

Result<Outcome> supervise(Process process, Stdio stdio, const SuperviseSettings& settings) {
  return Supervisor(std::move(process), std::move(stdio), settings).run();
}

}  // namespace harn::run

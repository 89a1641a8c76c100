// SPDX-License-Identifier: Apache-2.0
#include "run/outputs.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "sys/descriptors.h"

namespace harn::run {
namespace {

using std::chrono::milliseconds;

bool ends_a_program(int signal) { return signal == SIGHUP || signal == SIGINT || signal == SIGQUIT || signal == SIGTERM; }

bool asked_to_end(int signal_fd) {
  bool asked = false;
  while (const int number = sys::next_signal(signal_fd)) asked = asked || ends_a_program(number);
  return asked;
}

int sink(const Stdio& stdio, std::size_t index) { return stdio.streams[index] == Stream::capture ? -1 : stdio.inherited[index]; }

}  // namespace

Outputs::Outputs(Stdio& stdio, const OutputRules& rules)
    : budget_{rules.limit, false},
      captured_{{rules.captured_limit, false}, {rules.captured_limit, false}},
      captures_{stdio.streams[1] == Stream::capture, stdio.streams[2] == Stream::capture},
      out_(std::move(stdio.our_ends[1]), sink(stdio, 1), budget_of(stdio, 1)),
      err_(std::move(stdio.our_ends[2]), sink(stdio, 2), budget_of(stdio, 2)) {
  if (!rules.on_output) return;
  // What is told need not be kept: past the memory it goes on, and nothing of it is lost.
  for (auto& kept : captured_) kept.only_kept = true;
  const auto listens = [&](std::size_t index) { return captures_[index - 1] || stdio.streams[index] == Stream::tap; };
  if (listens(1)) out_.tell([&told = rules.on_output](std::string_view bytes) { told(Output::out, bytes); });
  if (listens(2)) err_.tell([&told = rules.on_output](std::string_view bytes) { told(Output::err, bytes); });
}

OutputBudget& Outputs::budget_of(const Stdio& stdio, std::size_t index) {
  return stdio.streams[index] == Stream::capture && !budget_.left ? captured_[index - 1] : budget_;
}

void Outputs::interest(std::span<pollfd, 2> fds) const {
  constexpr pollfd nothing = {.fd = -1, .events = 0, .revents = 0};
  fds[0] = out_.open() ? out_.interest() : nothing;
  fds[1] = err_.open() ? err_.interest() : nothing;
}

void Outputs::work(std::span<const pollfd, 2> fds) {
  out_.work(fds[0].revents);
  err_.work(fds[1].revents);
}

void Outputs::flush(int signal_fd, std::optional<Clock::time_point> until) {
  out_.take_rest();
  err_.take_rest();
  while (open()) {
    const auto left = until ? std::chrono::ceil<milliseconds>(*until - Clock::now()).count() : -1;
    if (until && left <= 0) break;
    pollfd fds[3] = {};
    interest(std::span<pollfd, 2>(fds, 2));
    fds[2] = {.fd = signal_fd, .events = POLLIN, .revents = 0};
    if (::poll(fds, 3, static_cast<int>(std::min<long>(left, 1 << 30))) < 0) continue;
    work(std::span<const pollfd, 2>(fds, 2));
    if (asked_to_end(signal_fd)) break;
  }
  if (open()) budget_.truncated = true;
  out_.drop_waiting();
  err_.drop_waiting();
}

int Outputs::write_error() const { return out_.write_error() != 0 ? out_.write_error() : err_.write_error(); }

void Outputs::hand_over(Outcome& outcome) {
  outcome.output_truncated = budget_.truncated || captured_[0].truncated || captured_[1].truncated;
  if (captures_[0]) outcome.captured_stdout = out_.take_captured();
  if (captures_[1]) outcome.captured_stderr = err_.take_captured();
}

}  // namespace harn::run

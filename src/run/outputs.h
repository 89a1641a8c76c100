// SPDX-License-Identifier: Apache-2.0
// Both outputs of a command on their way to the caller or into memory, under one limit.
#pragma once

#include <chrono>
#include <optional>
#include <span>

#include "harn/outcome.h"
#include "run/pump.h"
#include "run/stdio.h"

namespace harn::run {

struct OutputRules {
  std::optional<std::uint64_t> limit = {};  // of both together
  std::uint64_t captured_limit = 0;         // without one: what is kept of each in memory
  const OutputSink& on_output;              // told what passes the limit; may be empty
};

class Outputs {
 public:
  using Clock = std::chrono::steady_clock;

  Outputs(Stdio& stdio, const OutputRules& rules);
  Outputs(const Outputs&) = delete;
  Outputs& operator=(const Outputs&) = delete;

  void interest(std::span<pollfd, 2> fds) const;
  void work(std::span<const pollfd, 2> fds);
  // The command is gone. What it wrote reaches its reader, however slow, but not past `until`; a signal
  // that ends a program ends the wait as well.
  void flush(int signal_fd, std::optional<Clock::time_point> until);

  // Why bytes could not be passed on, as errno; 0 = they were.
  int write_error() const;
  // What came on standard error, where it was captured.
  std::string take_errors() { return captures_[1] ? err_.take_captured() : std::string(); }
  void hand_over(Outcome& outcome);

 private:
  OutputBudget& budget_of(const Stdio& stdio, std::size_t index);
  bool open() const { return out_.open() || err_.open(); }

  OutputBudget budget_;
  OutputBudget captured_[2];
  bool captures_[2];
  OutputPump out_;
  OutputPump err_;
};

}  // namespace harn::run

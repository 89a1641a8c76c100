// SPDX-License-Identifier: Apache-2.0
// One command in a container while it runs: an engine's client carries its standard streams, harn's own
// program beside it tells how it went.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harn/sandbox.h"
#include "run/container/container.h"
#include "run/own_process.h"
#include "run/quiet_pipes.h"
#include "run/stdio.h"

namespace harn::sandbox {

// The caller's process for the time of one command.
class Attendant {
 public:
  Attendant(const Plan& plan, const RunOptions& options) : plan_(plan), options_(options) {}

  // Before anything is started: signals wait from here on.
  Result<run::Stdio> open();
  // `report` is where the program inside tells; `words` start it. An error means that it did not run.
  Result<Outcome> attend(run::Container& container, run::ReportPipe& report, std::vector<std::string> words, run::Stdio stdio);

 private:
  void end(run::Container& container, run::ReportPipe& report);
  Result<Outcome> settle(run::Container& container, const run::ReportPipe& report, Outcome outcome) const;

  const Plan& plan_;
  const RunOptions& options_;
  run::OwnProcess own_ = {};
  std::optional<run::QuietPipes> quiet_ = {};
  int client_ = -1;
  bool ended_ = false;
};

// The streams are terminals, all three: then the command gets one too.
bool all_terminals(const run::Stdio& stdio);

// What the first program found, as an error: nothing may run then.
Error open_doors(unsigned doors);

}  // namespace harn::sandbox

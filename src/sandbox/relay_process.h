// SPDX-License-Identifier: Apache-2.0
// The relay of one run: a confined process beside the sandbox that ends with it. When it is killed, every
// socket it served is closed, and nothing leaves the sandbox any more.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "egress/channel.h"
#include "egress/ledger.h"
#include "harn/sandbox.h"
#include "run/launch.h"
#include "run/supervise.h"
#include "sys/unique_fd.h"

namespace harn::sandbox {

class RelayProcess {
 public:
  // None where the plan needs none.
  static Result<RelayProcess> start(const Plan& plan, const RunOptions& options);

  int channel() const { return channel_.get(); }  // -1 = there is no relay
  // Where a supervisor leads the command's connections; none where the command has a network of its own.
  run::RelayReach reach() const { return {announcements_.get(), stream_port_, resolver_port_}; }
  // While the command runs: what the relay asks. Without a sink it asks nothing.
  run::Attended attended(const HostQuestionSink& sink) const;
  // Ends it and keeps what it saw; nothing leaves the sandbox from here on.
  void end();
  // The same, and puts it into the outcome.
  void report(Outcome& outcome);

 private:
  RelayProcess() = default;
  Status open_on_loopback(std::vector<egress::ReceivedGate>& gates);

  sys::UniqueFd channel_ = {};
  sys::UniqueFd announcements_ = {};
  std::uint16_t stream_port_ = 0;
  std::uint16_t resolver_port_ = 0;
  std::optional<run::Process> process_ = {};
  egress::NetworkReport seen_ = {};
  bool complete_ = false;
};

}  // namespace harn::sandbox

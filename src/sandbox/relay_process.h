// SPDX-License-Identifier: Apache-2.0
// The relay of one run: a confined process beside the sandbox that ends with it. When it is killed, every
// socket it served is closed, and nothing leaves the sandbox any more.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "egress/ledger.h"
#include "harn/sandbox.h"
#include "run/launch.h"
#include "sys/unique_fd.h"

namespace harn::sandbox {

class RelayProcess {
 public:
  // None where the plan needs none.
  static Result<RelayProcess> start(const Plan& plan, const RunOptions& options);

  int channel() const { return channel_.get(); }  // -1 = there is no relay
  // Ends it, and puts what it saw into the outcome.
  void report(Outcome& outcome);

 private:
  RelayProcess() = default;

  sys::UniqueFd channel_ = {};
  std::optional<run::Process> process_ = {};
};

}  // namespace harn::sandbox

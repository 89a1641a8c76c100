// SPDX-License-Identifier: Apache-2.0
// The network of a sandbox in restricted mode: every address leads back inside, where sockets wait that
// the relay serves from outside. Sockets keep the namespace they were made in; nothing else crosses.
#pragma once

#include <netinet/in.h>

#include <deque>
#include <string>
#include <vector>

#include "harn/plan.h"
#include "run/script_writer.h"
#include "sys/gates.h"

namespace harn::run {

// What the steps point to.
struct GateParts {
  std::deque<std::string> requests = {};
  std::deque<sockaddr_in6> addresses = {};
  std::deque<std::vector<child::Call>> calls = {};
  std::deque<std::vector<sys::GateNote>> notes = {};
};

// After loopback is up; `channel` leads to the relay.
void write_gates(ScriptWriter& writer, const EgressPlan& egress, int channel, GateParts& parts);
// Only where the relay does not wait yet.
void write_more_gates(ScriptWriter& writer, const EgressPlan& egress, const std::vector<std::uint16_t>& served, int channel,
                      GateParts& parts);

}  // namespace harn::run

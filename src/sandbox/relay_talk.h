// SPDX-License-Identifier: Apache-2.0
// What every launcher of a relay needs: its program started, its settings as a file, its report read.
#pragma once

#include <chrono>

#include "egress/channel.h"
#include "egress/ledger.h"
#include "egress/settings.h"
#include "harn/plan.h"
#include "run/launch.h"
#include "sys/unique_fd.h"

namespace harn::sandbox {

struct ChannelPair {
  sys::UniqueFd ours = {};  // away from the numbers the command's descriptors get
  sys::UniqueFd theirs = {};
};
Result<ChannelPair> make_channel();

// A file without a name, to be inherited or handed over.
Result<sys::UniqueFd> settings_file(const egress::RelaySettings& settings);

// Ports of the host's loopback that the plan publishes.
Result<std::vector<egress::ReceivedGate>> published_gates(const EgressPlan& plan);

// The relay confined as the plan's command asks for; `channel` and `settings` are borrowed and become its own.
struct RelayStart {
  const LinuxConfinement& sandbox;
  int channel = -1;
  int settings = -1;
  bool die_with_thread = false;
};
// Ready to be spawned while `program` is open.
struct PreparedRelay {
  sys::UniqueFd program = {};
  sys::UniqueFd nothing = {};
  run::PreparedChild child;
};
Result<PreparedRelay> prepare_relay(const RelayStart& start);

// The lines of a report until its end; false when they did not all come in time.
bool read_report(int channel, egress::NetworkReport& report);
// One message while somebody waits for it; empty when none came in time or nobody is there.
std::string read_answer(int channel);

}  // namespace harn::sandbox

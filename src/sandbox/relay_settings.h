// SPDX-License-Identifier: Apache-2.0
// What a relay is told before it starts, and what it tells at the end: the same on every system that has one.
#pragma once

#include "egress/ledger.h"
#include "egress/settings.h"
#include "harn/sandbox.h"

namespace harn::sandbox {

// With the host's own tables of names and resolvers.
Result<egress::RelaySettings> relay_settings(const EgressPlan& plan, const std::vector<std::string>& nameservers);

// Into the outcome; `complete`: the relay said that this was all.
void add_report(egress::NetworkReport report, bool complete, Outcome& outcome);

}  // namespace harn::sandbox

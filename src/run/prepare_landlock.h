// SPDX-License-Identifier: Apache-2.0
// The Landlock plan as a ruleset: what the host shows is pinned here, what only the view will show
// becomes steps of the child.
#pragma once

#include "harn/plan.h"
#include "run/launch.h"
#include "run/script_writer.h"

namespace harn::run {

// Of the ports that are closed, the one the relay waits at is open: for who connects there on behalf.
LandlockPlan with_relay(LandlockPlan plan, const RelayReach& relay);

// The ruleset, complete but for the steps written to `inner`. Paths that are gone by now are left
// out: they grant nothing.
Result<sys::UniqueFd> make_ruleset(const LandlockPlan& plan, const View* view, ScriptWriter& inner);
// To a ruleset that exists: only who enforces it afterwards has them.
Status add_rules(int ruleset, const std::vector<LandlockRule>& rules);

}  // namespace harn::run

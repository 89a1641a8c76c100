// SPDX-License-Identifier: Apache-2.0
// What a plan really lets a process do to a host path, whatever the backend, judged by the
// independent models of each mechanism.
#pragma once

#include <functional>

#include "harn/plan.h"

namespace harn::test {

// Reads the plan's native text once; the answer lives as long as the plan and the facts.
using PlanModel = std::function<bool(const AbsPath& path, FileOp op)>;
PlanModel model_of(const Plan& plan, const HostFacts& facts);

// Whether the plan lets the command open a socket to other machines.
bool plan_reaches_network(const Plan& plan);

}  // namespace harn::test

// SPDX-License-Identifier: Apache-2.0
// What a plan really lets a process do to a host path, whatever the backend, judged by the
// independent models of each mechanism.
#pragma once

#include "harn/plan.h"

namespace harn::test {

bool plan_allows(const Plan& plan, const HostFacts& facts, const AbsPath& path, FileOp op);

// Whether the plan lets the command open a socket to other machines.
bool plan_reaches_network(const Plan& plan);

}  // namespace harn::test

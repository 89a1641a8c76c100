// SPDX-License-Identifier: Apache-2.0
// Routing, the automatic choice of a backend, and the fallback rule.
#pragma once

#include <span>

#include "harn/plan.h"
#include "plan/lower.h"

namespace harn::plan {

std::span<const BackendRow> backends();
const BackendRow& row_of(Backend backend);

// Where a command under this policy goes, before any backend is looked at.
Route route_of(const Policy& policy, const PlanOptions& options);

// What the system's ceiling says to a policy and to ways around every backend.
Status check_ceiling(const Policy& policy, const PlanOptions& options);

// Turns a finished plan into a refused one when the profile or the fallback rule says so.
void apply_gate(const Policy& policy, const PlanOptions& options, Plan& plan);

}  // namespace harn::plan

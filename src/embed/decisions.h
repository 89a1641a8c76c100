// SPDX-License-Identifier: Apache-2.0
// What was decided before a command starts, as events for an audit sink: one event for each decision.
#pragma once

#include <string>
#include <vector>

#include "embed/places.h"
#include "harn/audit.h"
#include "harn/plan.h"

namespace harn::embed {

struct Loaded {
  std::vector<std::string> sources = {};     // "default", "ceiling", "user", …
  std::vector<std::string> narrowings = {};  // what was taken away, for people
};

// policy_loaded, and policy_narrowed where something was taken away.
std::vector<AuditEvent> policy_events(const Policy& policy, const Loaded& loaded);

// plan_made, and sandbox_fallback where it is not what comes first, --no-sandbox included.
std::vector<AuditEvent> plan_events(const Plan& plan, const PlanOptions& options);

AuditEvent refusal_event(const Error& error, const std::vector<std::string>& argv, const std::vector<std::string>& secrets);

// Values of variables that are withheld, or that look secret and are passed all the same.
std::vector<std::string> secrets_in(const std::vector<RemovedVariable>& withheld, const Environment& environment);

}  // namespace harn::embed

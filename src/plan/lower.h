// SPDX-License-Identifier: Apache-2.0
// What every lowering gets and gives. A backend is a row in backends.cpp; adding one is one lowering
// file, one row, goldens and one page in docs/backends.
#pragma once

#include <string>

#include "harn/plan.h"

namespace harn::plan {

inline const EgressChoices no_choices = {};

// Everything a lowering may look at. `rules` is the policy compiled for this host: the nearest rule
// at or above a path decides. Lowerings translate that list and say in `coverage` where they cannot.
struct PlanInput {
  const Policy& policy;
  const Command& command;
  const HostFacts& facts;
  const PathRules& rules;
  const EgressChoices& egress = no_choices;
  bool explain = false;                             // PlanOptions::explain
  bool record = false;                              // PlanOptions::record
  bool ask = false;                                 // PlanOptions::ask
  bool hosts_later = false;                         // PlanOptions::hosts_later
  const std::vector<GuestMount>* guests = nullptr;  // PlanOptions::guests, for who mounts by other means than a view
};

// Fills plan.confinement, plan.argv (rewrites), plan.scratch, plan.egress, env additions, and every
// dimension of plan.coverage except those lower_limits() and plan_environment() own.
using Lower = Status (*)(const PlanInput& input, Plan& plan);

struct BackendRow {
  Backend backend;
  Platform platform;  // wrappers that run on several platforms name the one we use them on
  bool in_auto;       // takes part in the automatic choice
  // Empty = usable; else why not on this host.
  std::string (*why_unusable)(const HostFacts& facts);
  Lower lower;
};

// One lowering per file of the same name.
Status lower_linux(const PlanInput& input, Plan& plan);  // namespaces.cpp + landlock.cpp + syscalls.cpp
Status lower_bubblewrap(const PlanInput& input, Plan& plan);
Status lower_firejail(const PlanInput& input, Plan& plan);
Status lower_docker(const PlanInput& input, Plan& plan);
Status lower_podman(const PlanInput& input, Plan& plan);
Status lower_seatbelt(const PlanInput& input, Plan& plan);
Status lower_appcontainer(const PlanInput& input, Plan& plan);
Status lower_pledge_unveil(const PlanInput& input, Plan& plan);
Status lower_noop(const PlanInput& input, Plan& plan);

}  // namespace harn::plan

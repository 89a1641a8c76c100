// SPDX-License-Identifier: Apache-2.0
// Canaries: things outside that the launcher can reach now and must not be able to reach once every
// layer is in place. They run in the child after the last layer and before the command.
#pragma once

#include "run/launch.h"
#include "run/script_writer.h"

namespace harn::run {

struct ProofRequest {
  const Plan& plan;
  const LinuxConfinement& linux;
  const LaunchSettings& settings;
};

// Each canary is tried here first: one that fails without confinement would prove nothing.
void write_file_proofs(const ProofRequest& request, ScriptWriter& inner, Proofs& proofs);
void write_other_proofs(const ProofRequest& request, ScriptWriter& inner, Proofs& proofs);

// For a view where others have been before: no path and no number inside says anything any more.
void write_lasting_proofs(const ProofRequest& request, ScriptWriter& inner, Proofs& proofs);

}  // namespace harn::run

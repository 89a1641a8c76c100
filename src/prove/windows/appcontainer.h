// SPDX-License-Identifier: Apache-2.0
// Whether this host has what a confined run needs.
#pragma once

#include "harn/prove.h"
#include "run/windows/calls.h"

namespace harn::prove {

// Without starting anything: the functions are there, the system takes the attribute, and a job keeps what it is told. An error
// says which does not hold.
Status claims_to_confine(const run::windows::Calls& calls);

// Starts three commands: one outside that reads a file, one inside that must not read it, and one inside that must read another.
Finding prove_confinement(const run::windows::Calls& calls, const HostFacts& facts);

}  // namespace harn::prove

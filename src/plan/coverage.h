// SPDX-License-Identifier: Apache-2.0
// How lowerings say how much they enforce, and the gate that refuses gaps.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harn/plan.h"

namespace harn::plan {

// Whether the policy asks for anything in this dimension (no memory limit = memory not requested).
bool requested(const Policy& policy, Dimension dimension);

// `layer` enforces this dimension fully. Several layers may; status never drops.
void enforced_by(Coverage& coverage, Dimension dimension, std::string layer);

// Something remains open. `severity` is not_enforced (a hole) or degraded (weaker, but no way out);
// the dimension's status becomes the worse of what it is and this.
void open_gap(Coverage& coverage, Gap gap, Enforcement severity);

// Sets every dimension the policy does not ask for to not_requested (dropping its gaps), and every
// requested dimension nobody claimed to not_enforced, for the given reason. Called once, last.
void settle(Coverage& coverage, const Policy& policy, std::string_view why_not = "nothing on this host enforces it");

// The dimensions a strict profile refuses on: requested and not_enforced.
std::vector<Dimension> holes(const Coverage& coverage);
std::vector<Dimension> dimensions_with(const Coverage& coverage, Enforcement status);

}  // namespace harn::plan

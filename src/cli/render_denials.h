// SPDX-License-Identifier: Apache-2.0
// What was refused, for people.
#pragma once

#include <string>
#include <vector>

#include "harn/outcome.h"
#include "harn/plan.h"

namespace harn::cli {

// Also says when nothing was, and when nobody could tell.
std::string denials_text(const std::vector<Denial>& denials, const Plan& plan);

}  // namespace harn::cli

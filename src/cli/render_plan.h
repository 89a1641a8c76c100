// SPDX-License-Identifier: Apache-2.0
// A plan for people: what the command may do, how much of the policy is enforced, and what is not.
#pragma once

#include <string>
#include <vector>

#include "harn/plan.h"

namespace harn::cli {

struct PlanPicture {
  const Plan& plan;
  const Policy& policy;
  const PathRules& rules;
  const std::vector<std::string>& notes;  // of composing and probing; the plan has its own
  bool colour = false;
};

std::string picture_of(const PlanPicture& picture);

// decide() for one path, every operation, with the deciding rule and why it is there.
// `beside` says what stands at the path where no rule does; empty = nothing.
std::string explanation_of(const AbsPath& path, const PathRules& rules, std::string_view beside);

}  // namespace harn::cli

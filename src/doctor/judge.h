// SPDX-License-Identifier: Apache-2.0
// From what was seen to a verdict. Pure, so that the rules can be read and tested as a table.
#pragma once

#include "doctor/attacks/attack_table.h"
#include "harn/doctor.h"

namespace harn::doctor {

struct Evidence {
  bool rare = false;        // other rules may refuse the attack to everybody
  bool requested = true;    // the policy asks for this promise
  bool excused = false;     // the plan names this way out
  bool control_ran = true;  // the attack reported, whatever it reported
  bool confined_ran = true;
  bool worked_outside = false;
  bool worked_inside = false;
  std::optional<bool> twin_worked = {};  // unset: there is none under this policy
};

Verdict judge(const Evidence& evidence);

// The gap that names this way out, for people; nothing when the plan claims there is none.
std::optional<std::string> excuse_for(const Attack& attack, const Plan& plan, const Targets& targets);

}  // namespace harn::doctor

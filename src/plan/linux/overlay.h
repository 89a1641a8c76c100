// SPDX-License-Identifier: Apache-2.0
// A workspace that can be taken back: the view shows it through a layer that gets every change.
#pragma once

#include "harn/plan.h"
#include "harn/policy.h"

namespace harn::plan {

struct Layering {
  AbsPath place = {};
  bool all = false;                     // every writable directory, whatever opened it; single files change at once
  std::vector<GuestMount> guests = {};  // whose sources are somebody else's, and change at once
};
// Turns every writable part of the workspace in the plan's view into an overlay with a layer in `place`.
// Fails where the plan has no view, or a part that no layer can lie over.
Status lay_over(const Policy& policy, const Layering& layering, Plan& plan);

}  // namespace harn::plan

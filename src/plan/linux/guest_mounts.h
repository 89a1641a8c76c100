// SPDX-License-Identifier: Apache-2.0
// Places of the host shown somewhere else inside. The policy grants their sources, so every rule about what lies
// in them is part of the view already; here the same steps are repeated beneath the guest's path.
#pragma once

#include "harn/plan.h"

namespace harn::plan {

// What stands at the source and in it, once more beneath the guest's path; `mounts` say how it is seen. For any boundary that mounts.
Result<std::vector<MountStep>> mirrored_steps(const GuestMount& guest, const std::vector<MountStep>& mounts);

// The steps beneath one guest path alone, for a view that exists already.
Result<std::vector<MountStep>> guest_steps(const GuestMount& guest, const View& view);

// Adds them all. Where a plan has no view, guest paths do not exist and a note says so.
Status show_guests(const std::vector<GuestMount>& guests, Plan& plan);

}  // namespace harn::plan

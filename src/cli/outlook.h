// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/prepare.h"
#include "cli/render_doctor.h"

namespace harn::cli {

// What a profile would get here; a profile that cannot be planned says why.
ProfileOutlook outlook(const Prepared& prepared, Profile profile);

}  // namespace harn::cli

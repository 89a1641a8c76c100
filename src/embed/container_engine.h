// SPDX-License-Identifier: Apache-2.0
// Which engine Harness's mode "docker" means on this machine.
#pragma once

#include "embed/places.h"
#include "harn/plan.h"
#include "harn/result.h"

namespace harn::embed {

// The operator's HARN_ENGINE; else docker where its program is, or podman where that is the only one.
Result<Backend> container_engine(const Environment& environment);

}  // namespace harn::embed

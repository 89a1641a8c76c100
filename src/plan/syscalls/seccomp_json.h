// SPDX-License-Identifier: Apache-2.0
// SyscallFilter to the JSON profile docker and podman take (--security-opt seccomp=FILE).
#pragma once

#include <string>

#include "harn/plan.h"

namespace harn::plan {

// Allows exactly what the filter allows; where that cannot be said within reason, it allows less.
// A call refused whatever its arguments keeps its errno, every other refusal has the default one.
// Unknown numbers, foreign architectures and x32 are the container runtime's own rules.
// Fails with not_supported for unknown architectures and names and for argument indices above 5.
Result<std::string> seccomp_json(const SyscallFilter& filter);

}  // namespace harn::plan

// SPDX-License-Identifier: Apache-2.0
// Plausible machines of every platform, for `harn plan --platform OS` without a facts file.
#pragma once

#include "harn/host.h"

namespace harn::cli {

HostFacts canned_host(Platform platform);

}  // namespace harn::cli

// SPDX-License-Identifier: Apache-2.0
// What the relay itself may do. It reads bytes of confined programs and of the network, so it gets sockets
// and nothing else: no file, no process, no signal.
#pragma once

#include "harn/plan.h"

namespace harn::plan {

// With the layers of the sandbox it serves, as far as the host has them.
LinuxConfinement relay_confinement(const LinuxConfinement& sandbox);

}  // namespace harn::plan

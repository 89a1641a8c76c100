// SPDX-License-Identifier: Apache-2.0
// Everybody beneath us, as /proc lists them.
#pragma once

namespace harn::run::supervisor {

void signal_descendants(int number);

}  // namespace harn::run::supervisor

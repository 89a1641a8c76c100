// SPDX-License-Identifier: Apache-2.0
// Landlock's system calls, one wrapper each. Knows nothing of policies.
#pragma once

namespace harn::sys {

// The ABI the running kernel speaks; 0 when Landlock is missing or switched off.
int landlock_abi();

}  // namespace harn::sys

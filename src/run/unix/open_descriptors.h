// SPDX-License-Identifier: Apache-2.0
// Which descriptors are open. Limits do not tell: a descriptor may have been opened before the limit was lowered.
#pragma once

namespace harn::run {

// In a child before exec: no allocation, no locks. Every open descriptor from `first` on closes at exec; false where it cannot be
// known which are open, and then nothing may be executed.
bool close_at_exec(int first) noexcept;

}  // namespace harn::run

// SPDX-License-Identifier: Apache-2.0
// Descriptors that must not survive exec. Runs between clone and exec: raw system calls only.
#pragma once

#include "run/child/raw_syscall.h"

namespace harn::run::child {

// Marks every descriptor from `first` on. 0 or -errno.
Word close_on_exec_from(int first) noexcept;

// The same for kernels before 5.11, one by one: those /proc lists or, without it, every number there can be.
Word close_each_on_exec_from(int first) noexcept;

}  // namespace harn::run::child

// SPDX-License-Identifier: Apache-2.0
// Private to the child: one function per family of steps. Each answers 0 or -errno.
#pragma once

#include "run/child/raw_syscall.h"
#include "run/child/script.h"

namespace harn::run::child {

Word build_view(Launch& launch, const Step& step) noexcept;
Word build_network(Launch& launch, const Step& step) noexcept;
Word narrow(const Step& step) noexcept;
Word prove(const Step& step) noexcept;

// The inner script in the caller's own process, which goes on afterwards; false when a step failed.
bool replay_here(Launch& launch) noexcept;

// A process that shares memory with us, on a stack of its own; we wait until it has become another
// program or ended. Answers its pid, or -errno.
Word start_sharing(Word flags, char* stack_top, int* pidfd, int (*function)(void*), void* argument) noexcept;
// The same without waiting: both go on in one memory, as threads would.
Word start_beside(Word flags, char* stack_top, int (*function)(void*), void* argument) noexcept;

}  // namespace harn::run::child

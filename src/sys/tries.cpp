// SPDX-License-Identifier: Apache-2.0
#include "sys/tries.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "sys/unique_fd.h"

namespace harn::sys {

bool can_copy_descriptors() {
  const UniqueFd self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  if (!self) return false;
  const UniqueFd copy(static_cast<int>(::syscall(SYS_pidfd_getfd, self.get(), self.get(), 0)));
  return static_cast<bool>(copy);
}

}  // namespace harn::sys

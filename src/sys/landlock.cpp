// SPDX-License-Identifier: Apache-2.0
#include "sys/landlock.h"

#include <unistd.h>

#include "sys/uapi/landlock.h"

namespace harn::sys {

int landlock_abi() {
  const long abi = ::syscall(uapi::landlock_create_ruleset_number, nullptr, 0, uapi::landlock_create_ruleset_version);
  return abi > 0 ? static_cast<int>(abi) : 0;
}

}  // namespace harn::sys

// SPDX-License-Identifier: Apache-2.0
// The one thing about a caller that the listener alone knows.
#include <linux/seccomp.h>
#include <sys/ioctl.h>

#include "run/supervisor/caller.h"

namespace harn::run::supervisor {

bool Caller::waits() const { return raw_syscall(SYS_ioctl, listener_, SECCOMP_IOCTL_NOTIF_ID_VALID, word_of(&id_)) == 0; }

}  // namespace harn::run::supervisor

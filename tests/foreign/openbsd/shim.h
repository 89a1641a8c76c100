// SPDX-License-Identifier: Apache-2.0
// unveil(2) and pledge(2) on Linux, enforced by the kernel: a mount namespace and Landlock for the one, seccomp for
// the other. Only for tests: OpenBSD's applier runs on it, unchanged.
//
// As on OpenBSD: after the lock nothing exists but what was unveiled; the nearest entry replaces the outer one; a
// locked list cannot be changed; promises only shrink, also over exec; an unknown promise or letter is EINVAL;
// breaking a promise ends the process by SIGABRT, or is ENOSYS where "error" was promised.
// Not as on OpenBSD, and no test relies on it: the list takes effect at the lock, not at the first call; a name that
// does not exist cannot be held; promises that are wider after exec than before cannot be told from the later ones,
// because no filter of Linux can be lifted; a program that was executed ends by SIGSYS in place of SIGABRT.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace harn::shim {

struct Entry {
  std::string path = {};         // as it was said, made absolute
  std::string permissions = {};  // of r w x c
};

// What exists from now on; 0, or an errno.
int show_only(const std::vector<Entry>& entries);

// Calls that belong to a promise not among these are refused from now on; 0, or an errno.
int keep_to(const std::set<std::string>& promises);

}  // namespace harn::shim

// SPDX-License-Identifier: Apache-2.0
#include "run/supervisor/bound.h"

#include <fcntl.h>

namespace harn::run::supervisor {
namespace {

Word status_of(int fd, struct stat& out) { return raw_syscall(SYS_newfstatat, fd, word_of(""), word_of(&out), AT_EMPTY_PATH); }

}  // namespace

// What has lost its last name can be reached by nobody new.
bool Bound::has_room() {
  if (count_ < most) return true;
  for (int i = 0; i < count_;) {
    struct stat status = {};
    if (status_of(all_[i].object.get(), status) == 0 && status.st_nlink != 0) {
      ++i;
      continue;
    }
    all_[i] = static_cast<One&&>(all_[--count_]);
  }
  return count_ < most;
}

void Bound::add(Fd object) {
  struct stat status = {};
  if (count_ == most || status_of(object.get(), status) < 0) return;
  all_[count_].object = static_cast<Fd&&>(object);
  all_[count_].device = status.st_dev;
  all_[count_++].inode = status.st_ino;
}

bool Bound::has(const struct stat& status) const {
  for (int i = 0; i < count_; ++i)
    if (all_[i].device == status.st_dev && all_[i].inode == status.st_ino) return true;
  return false;
}

}  // namespace harn::run::supervisor

// SPDX-License-Identifier: Apache-2.0
// The sockets this command bound itself: whoever of it connects to one reaches its own. Each is held, so
// that its number cannot become somebody else's.
#pragma once

#include <sys/stat.h>

#include "run/supervisor/kernel.h"

namespace harn::run::supervisor {

class Bound {
 public:
  bool has_room();
  void add(Fd object);
  bool has(const struct stat& status) const;

 private:
  struct One {
    Fd object = {};
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
  };
  static constexpr int most = 256;

  One all_[most] = {};
  int count_ = 0;
};

}  // namespace harn::run::supervisor

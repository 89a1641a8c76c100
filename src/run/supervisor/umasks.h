// SPDX-License-Identifier: Apache-2.0
// What each process takes away from the modes of what it makes. /proc tells it, and takes as long as all the rest of a
// call; so it is remembered, until the process is about to change it.
#pragma once

#include "run/supervisor/caller.h"

namespace harn::run::supervisor {

class Umasks {
 public:
  // -errno when it cannot be told.
  Word of(const Caller& caller);
  // It calls umask now. When that is done nobody tells, so from here on its own is read every time.
  void changes(const Caller& caller);

 private:
  static constexpr int most = 64;
  static constexpr Word unsteady = -1;
  struct One {
    std::uint32_t number = 0;
    Fd process = {};  // held: its number is nobody else's while it lives
    Word mask = unsteady;
  };

  One* find(std::uint32_t number);
  void keep(std::uint32_t number, Fd process, Word mask);

  One all_[most] = {};
  int next_ = 0;
};

}  // namespace harn::run::supervisor

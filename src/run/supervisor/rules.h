// SPDX-License-Identifier: Apache-2.0
// The meaning of a policy for the supervisor: decide() over a flat list. No library: it runs in a program
// without one.
#pragma once

#include <cstddef>
#include <string_view>

#include "run/supervisor/protocol.h"

namespace harn::run::supervisor {

class Rules {
 public:
  Rules() = default;
  // A block that does not hold what its header says gives no rules: nothing is allowed.
  Rules(const char* block, std::size_t size);

  Allowed at(std::string_view path) const;
  // Something strictly beneath is closed to changes: the directory may neither move nor be moved onto.
  bool closed_beneath(std::string_view path) const;

 private:
  template <class Visit>
  void each(Visit visit) const;

  const char* first_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace harn::run::supervisor

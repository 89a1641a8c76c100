// SPDX-License-Identifier: Apache-2.0
// Ends the command's group when this process ends without a word: no system but Linux tells a child that its parent
// died. A process of its own that waits on a pipe.
#pragma once

#include <sys/types.h>

#include "harn/result.h"
#include "sys/unique_fd.h"

namespace harn::run {

class Guard {
 public:
  static Result<Guard> post(pid_t group);
  Guard(Guard&& other) noexcept : pid_(std::exchange(other.pid_, -1)), lifeline_(std::move(other.lifeline_)) {}
  Guard& operator=(Guard&&) = delete;
  ~Guard();  // the command is over; nobody is ended

 private:
  Guard() = default;
  pid_t pid_ = -1;
  sys::UniqueFd lifeline_ = {};
};

}  // namespace harn::run

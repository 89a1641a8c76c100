// SPDX-License-Identifier: Apache-2.0
// The directory for temporary files inside a workspace, where there is no private /tmp. Ignored by
// git through a file of its own; runs in the same workspace share it, and the last one removes it.
#pragma once

#include "harn/path.h"
#include "harn/result.h"
#include "sys/unique_fd.h"

namespace harn::run {

class Scratch {
 public:
  Scratch() = default;
  Scratch(Scratch&&) noexcept = default;
  Scratch& operator=(Scratch&&) noexcept = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  static Result<Scratch> make(const AbsPath& path);

 private:
  Status hold(const AbsPath& path);
  Status write_ignore_file(const AbsPath& path);

  sys::UniqueFd parent_ = {};
  sys::UniqueFd directory_ = {};  // holds a shared lock: somebody is using it
  std::string name_ = {};
};

}  // namespace harn::run

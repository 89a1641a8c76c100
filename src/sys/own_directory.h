// SPDX-License-Identifier: Apache-2.0
// A directory of the caller's own, for a while: made under a name nobody has, removed with everything
// in it. Signals that would end the program wait until it is gone; what a killed program left is swept
// by the next one that makes such a directory there.
#pragma once

#include <string_view>
#include <utility>

#include "harn/path.h"
#include "harn/result.h"
#include "sys/unique_fd.h"

namespace harn::sys {

class OwnDirectory {
 public:
  // Only its owner may enter. The path comes with links resolved.
  static Result<OwnDirectory> make(const AbsPath& parent, std::string_view stem);
  // For a program that goes on and may let go of it on another thread: its signals are not held back.
  static Result<OwnDirectory> keep(const AbsPath& parent, std::string_view stem);
  OwnDirectory(OwnDirectory&& other) noexcept = default;
  OwnDirectory& operator=(OwnDirectory&&) = delete;
  OwnDirectory(const OwnDirectory&) = delete;
  OwnDirectory& operator=(const OwnDirectory&) = delete;
  ~OwnDirectory();

  const AbsPath& path() const { return path_; }

 private:
  OwnDirectory(AbsPath path, UniqueFd held) : path_(std::move(path)), held_(std::move(held)) {}
  AbsPath path_;
  UniqueFd held_;  // with a lock, so that nobody takes it for a leftover
  bool holds_signals_ = false;
};

}  // namespace harn::sys

// SPDX-License-Identifier: Apache-2.0
// A directory of the caller's own, for a while: made under a name nobody has, removed with everything
// in it.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "harn/path.h"
#include "harn/result.h"

namespace harn::sys {

class OwnDirectory {
 public:
  // Only its owner may enter. The path comes with links resolved.
  static Result<OwnDirectory> make(const AbsPath& parent, std::string_view stem);
  OwnDirectory(OwnDirectory&& other) noexcept : path_(std::exchange(other.path_, std::nullopt)) {}
  OwnDirectory& operator=(OwnDirectory&&) = delete;
  OwnDirectory(const OwnDirectory&) = delete;
  OwnDirectory& operator=(const OwnDirectory&) = delete;
  ~OwnDirectory();

  const AbsPath& path() const { return *path_; }

 private:
  explicit OwnDirectory(AbsPath path) : path_(std::move(path)) {}
  std::optional<AbsPath> path_;
};

}  // namespace harn::sys

// SPDX-License-Identifier: Apache-2.0
// What the facts say stands at a path, for many paths in a row: neighbours share the answer of the
// directory they are in.
#pragma once

#include <string>
#include <string_view>

#include "harn/host.h"

namespace harn::policy {

class Kinds {
 public:
  explicit Kinds(const HostFacts& facts) : facts_(facts) {}

  PathKind at(std::string_view path);
  bool locked(std::string_view path) const {
    const auto found = facts_.paths.find(path);
    return found != facts_.paths.end() && found->second.locked;
  }

 private:
  const HostFacts& facts_;
  std::string directory_ = {};  // where somebody asked last
  PathKind unlisted_there_ = PathKind::missing;
};

}  // namespace harn::policy

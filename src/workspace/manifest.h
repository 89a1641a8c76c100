// SPDX-License-Identifier: Apache-2.0
// How a tree of the host looked when the first command began to work on a copy of it, and what Harn itself
// has put there since. Whatever else is different now was changed by somebody else.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "workspace/state.h"

namespace harn::workspace {

class Manifest {
 public:
  static Result<Manifest> take(const AbsPath& root);
  static Result<Manifest> load(const AbsPath& file);
  Status save(const AbsPath& file) const;
  // One more record behind the others, for what was just put there; the last one of a path counts.
  Status put(int file, const std::string& path, const State& state);

  // Nothing is known to have been there: an empty state.
  State at(const std::string& path) const;

 private:
  std::map<std::string, State, std::less<>> states_ = {};
};

}  // namespace harn::workspace

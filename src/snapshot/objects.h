// SPDX-License-Identifier: Apache-2.0
// Contents under their hash. Whoever adds or removes some holds a lock, so that nothing is removed that a list
// being written refers to.
#pragma once

#include <set>
#include <string>

#include "harn/path.h"
#include "harn/result.h"
#include "sys/unique_fd.h"

namespace harn::snapshot {

class Objects {
 public:
  static Result<Objects> open(const AbsPath& place);

  struct Kept {
    std::string hash = {};
    std::uint64_t bytes = 0;
    bool is_new = false;
  };
  // Everything the descriptor reads from its beginning.
  Result<Kept> keep(int file, const std::string& name_for_people) const;
  // A copy that was checked against its hash, with no name yet: `name` in this directory, put in place in one step.
  Status put(const std::string& hash, int directory, const std::string& name, unsigned mode) const;
  Status settle() const;  // on disk
  Status remove_unused(const std::set<std::string>& used) const;

 private:
  Objects(AbsPath place, sys::UniqueFd directory) : place_(std::move(place)), directory_(std::move(directory)) {}
  AbsPath place_;
  sys::UniqueFd directory_;  // locked
};

}  // namespace harn::snapshot

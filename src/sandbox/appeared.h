// SPDX-License-Identifier: Apache-2.0
// What must not appear and cannot be kept from appearing, and what may because the command itself
// made the repository around it: looked for after the run.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "harn/outcome.h"
#include "harn/plan.h"
#include "sys/unique_fd.h"

namespace harn::sandbox {

// The directories are held open from before the run: a command that takes away the right to look into
// them hides nothing, because an open directory can still be read.
class NameWatch {
 public:
  static NameWatch before(const Plan& plan, const std::vector<AbsPath>& workspace);

  // A name that can no longer be looked at counts as one that appeared.
  void report(Outcome& outcome) const;

 private:
  using Directories = std::map<AbsPath, sys::UniqueFd>;  // without a descriptor: it could not be opened then

  // The nearest directory at or above the path that exists.
  Directories::const_iterator hold(const AbsPath& directory);

  struct Name {
    AbsPath path = {};
    Directories::const_iterator held = {};
  };
  class After;

  Directories directories_ = {};
  std::vector<Name> names_ = {};         // must not appear
  std::vector<Name> repositories_ = {};  // ".git" of roots that are no repository
  // git takes a directory with these three for a repository itself, and obeys the configuration in it.
  std::vector<std::array<Name, 3>> bare_ = {};
};

}  // namespace harn::sandbox

// SPDX-License-Identifier: Apache-2.0
// What a Windows access check for a container's token makes of our entries. Only grants count: the
// lowbox check ignores deny entries for the container's own SID. Entries are inherited downwards until
// a path whose list is protected, and the system directories grant every container reading.
#pragma once

#include <map>
#include <vector>

#include "harn/plan.h"
#include "support/path_verdict.h"

namespace harn::test {

class AclModel {
 public:
  AclModel(const AppContainer& container, const AbsPath& system_volume);

  PathVerdict at(const AbsPath& path) const;

 private:
  struct Entry {
    bool modify = false;
    bool inherited = false;  // by everything beneath
  };
  struct List {
    bool stops_inheritance = false;
    std::vector<Entry> entries = {};
  };
  std::map<AbsPath, List> lists_ = {};
  std::vector<AbsPath> open_to_all_containers_ = {};
};

}  // namespace harn::test

// SPDX-License-Identifier: Apache-2.0
// Where this process may make cgroups with the controllers that limits need. Asked when facts are
// gathered and again when a run makes its own, so that both give the same answer.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "harn/host.h"
#include "harn/path.h"

namespace harn::sys {

struct CgroupPlaces {
  CgroupKind kind = CgroupKind::none;
  // v1: per controller the directory of this process. v2: one entry "" for the directory in which a
  // group can be made.
  std::map<std::string, AbsPath, std::less<>> directories = {};

  bool operator==(const CgroupPlaces&) const = default;
};

// v2 when its memory and pids controllers can be given to a new group, else v1 when memory, pids, cpu
// and cpuacct are there, else none.
CgroupPlaces find_cgroup_places(const AbsPath& proc = AbsPath::of("/proc"));

// The group this process is in, in the hierarchy of a version 1 controller or, with an empty name, of version 2: where it may make
// groups beneath and move processes of its own there. Version 2 needs no controller for that.
std::optional<AbsPath> find_own_group(std::string_view controller, const AbsPath& proc = AbsPath::of("/proc"));

}  // namespace harn::sys

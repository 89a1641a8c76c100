// SPDX-License-Identifier: Apache-2.0
// The cgroups of one run: made with their limits, joined by the child, emptied and removed. Version 1
// has one per hierarchy, version 2 a single one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "run/cgroup_files.h"
#include "sys/cgroup_places.h"
#include "sys/unique_fd.h"

namespace harn::run {

struct CgroupRequest {
  std::string run_id = {};
  std::map<std::string, std::string> values = {};  // file → text, as the plan says
};

class Cgroup {
 public:
  // Removes first what dead runs left. A value that cannot be set is an error, and nothing is left.
  static Result<Cgroup> make(const sys::CgroupPlaces& places, const CgroupRequest& request);

  Cgroup(Cgroup&&) noexcept = default;
  Cgroup& operator=(Cgroup&&) = delete;
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;
  ~Cgroup();  // whoever is left is ended

  const CgroupFiles& files() const { return files_; }
  std::vector<std::string> join_files() const;
  // Everybody, including those born meanwhile.
  void kill_all() const;

 private:
  Cgroup() = default;
  Status add_group(std::string_view controller, const AbsPath& parent, const std::string& name);

  CgroupFiles files_ = {};
  // Each directory once, held open and locked while the run lives: whoever can take the lock knows
  // that the owner is gone, whatever its pid was and in whichever pid namespace.
  std::map<AbsPath, sys::UniqueFd> owned_ = {};
};

}  // namespace harn::run

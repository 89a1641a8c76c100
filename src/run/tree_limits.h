// SPDX-License-Identifier: Apache-2.0
// Limits that count the whole process tree: a cgroup where there is one, sampling where there is
// not. The cgroup is removed with the object.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harn/outcome.h"
#include "run/cgroup.h"
#include "run/launch.h"
#include "run/supervise.h"
#include "run/watch.h"

namespace harn::run {

class TreeLimits {
 public:
  // Makes the cgroups the plan asks for, with its values; an error when one cannot be had.
  // `around` are groups they are made in, in place of this process's own.
  static Result<TreeLimits> open(const LimitPlan& limits, const std::string& run_id, const sys::CgroupPlaces& around = {});

  std::vector<std::string> join_files() const;  // cgroup.procs files
  // What sampling looks at. `orphans` as in ProcTree::of().
  void watch(const Process& process, bool orphans);
  // The three below refer to this object. Empty when nothing is watched, or without a cgroup.
  std::function<Reading()> check();
  std::function<void(std::uint64_t)> shared_memory();
  std::function<void()> killer();
  // What was counted, in place of what wait() told about single processes.
  void report(Outcome& outcome) const;

 private:
  Reading look();

  std::optional<Cgroup> cgroup_ = {};
  WatchLimits counted_ = {};  // compared with counters of the cgroup
  WatchLimits sampled_ = {};
  bool memory_charged_ = false;
  std::optional<Watch> watch_ = {};
  std::optional<std::uint64_t> refused_forks_ = {};  // as counted before the tree was ended
};

}  // namespace harn::run

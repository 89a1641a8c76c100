// SPDX-License-Identifier: Apache-2.0
// The processes of one command where no namespace or cgroup holds them: whoever was seen as a descendant or in a group
// of one, from the first look on. What leaves its group and its parent between two looks is not found; receipts say so.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "harn/plan.h"
#include "run/unix/processes.h"

namespace harn::run {

struct TreeUsage {
  std::uint64_t processes = 0;
  std::uint64_t resident_bytes = 0;
  std::uint64_t cpu_ms = 0;  // of everybody that was ever seen
};

class Tree {
 public:
  explicit Tree(pid_t leader) : leader_(leader), groups_({leader}) {}

  // Looks at the machine: who is new is remembered, who ended is forgotten.
  TreeUsage look();
  // Which watched total is passed; empty = none.
  static std::string passed(const TreeUsage& used, const LimitPlan& limits);

  // To everybody known.
  void signal(int number) const;
  // Kills until a look finds nobody but the leader, which its parent must reap. How many others there were; those
  // that are left, where `left` says so.
  std::uint64_t end_all();
  std::size_t left() const;

 private:
  using Key = std::pair<pid_t, std::uint64_t>;  // number and start
  pid_t leader_;
  std::set<pid_t> groups_;
  std::map<Key, std::uint64_t> members_ = {};  // with the processor time last seen
  std::uint64_t ended_cpu_ms_ = 0;
};

}  // namespace harn::run

// SPDX-License-Identifier: Apache-2.0
// How much memory a tree holds, where no cgroup charges it: what its processes have resident, what
// lies in the private file systems of its view, in memory files and in System V segments.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "run/proc_tree.h"

namespace harn::run {

class TreeMemory {
 public:
  // Finds the private file systems of the view; a command can mount no others.
  static TreeMemory of(const Process& process);

  void set_system_v(std::uint64_t bytes) { system_v_ = bytes; }  // as the init program told
  // Cheap while the sum of upper bounds stays below `limit`; shared pages are told apart only above.
  std::uint64_t bytes(const ProcTree& tree, const std::vector<Member>& members, std::uint64_t limit) const;

 private:
  using Inode = std::pair<dev_t, ino_t>;
  struct Held {  // beside what processes have resident
    std::uint64_t bytes = 0;
    std::set<Inode> memory_files = {};
    std::vector<pid_t> holders = {};  // one per process that has memory
  };

  static std::uint64_t largest_holder(const ProcTree& tree, const std::vector<Member>& members);
  std::uint64_t bytes_once(const ProcTree& tree, const std::vector<Member>& members, std::uint64_t limit) const;
  Held held(const ProcTree& tree, const std::vector<Member>& members) const;
  void add_memory_files(const ProcTree& tree, pid_t pid, Held& held) const;
  // Mapped pages of files that `held` counts already.
  std::uint64_t counted_twice(const ProcTree& tree, pid_t pid, const Held& held) const;

  std::vector<sys::UniqueFd> file_systems_ = {};
  std::set<dev_t> devices_ = {};  // of those
  dev_t memory_file_device_ = 0;  // the kernel's own, holding memfds and System V segments
  std::uint64_t system_v_ = 0;
};

}  // namespace harn::run

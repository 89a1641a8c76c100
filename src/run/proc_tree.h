// SPDX-License-Identifier: Apache-2.0
// The processes of a running command as /proc shows them. With a pid namespace its own /proc lists
// exactly them; without one they are the descendants of the command and whatever was orphaned to us.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "run/launch.h"
#include "sys/unique_fd.h"

namespace harn::run {

struct Member {
  pid_t pid = 0;  // in the numbering of the directory it was read from
  std::uint64_t started = 0;
  std::uint64_t cpu_ticks = 0;         // its own
  std::uint64_t reaped_cpu_ticks = 0;  // of children it waited for
  std::uint64_t threads = 0;
  bool init = false;  // ours, not the command's
};

class ProcTree {
 public:
  // `orphans`: processes whose parent ended come to this process, which has no other children.
  static ProcTree of(const Process& process, bool orphans);

  std::vector<Member> members() const;
  // Whose files tell about the memory of a member: itself or, when its first thread has ended, another
  // thread. 0 = nobody's, it has ended.
  pid_t holder(const Member& member) const;
  // A file of one member; empty when it is gone or closed to us.
  std::string read(pid_t pid, std::string_view file) const;
  // A directory of one member, to list; invalid when closed to us.
  sys::UniqueFd open_directory(pid_t pid, std::string_view name) const;

 private:
  std::vector<pid_t> pids() const;
  void add_below(pid_t pid, std::vector<pid_t>& out) const;

  sys::UniqueFd proc_ = {};
  bool own_namespace_ = false;
  bool held_ = false;               // by an init program or a supervisor
  pid_t root_ = -1;                 // without a namespace of its own
  std::uint64_t root_started_ = 0;  // a pid can become somebody else's
  bool orphans_ = false;
};

// Whether the status of a process tells of memory: one that has ended, or whose first thread has, has none.
bool has_memory(std::string_view status);

// "NAME:   123 kB" in a file of such lines, in bytes; 0 when it is not there.
std::uint64_t bytes_of(std::string_view text, std::string_view name);

}  // namespace harn::run

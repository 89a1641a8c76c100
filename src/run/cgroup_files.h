// SPDX-License-Identifier: Apache-2.0
// The files of a cgroup, which have other names in version 1 and version 2: limits written, counters
// read. Knows nothing of how the directories come and go.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "harn/host.h"
#include "harn/result.h"

namespace harn::run {

// Of "memory.max" it is "memory".
std::string_view controller_of(std::string_view file);

struct CgroupFiles {
  CgroupKind kind = CgroupKind::none;
  std::map<std::string, AbsPath, std::less<>> directories = {};  // v1: by controller; v2: one under ""

  // Every value, or an error that names the file.
  Status write(const std::map<std::string, std::string>& values) const;

  // 0 where this kernel or this run does not count it.
  std::uint64_t oom_kills() const;
  std::uint64_t cpu_us() const;
  std::uint64_t memory_peak_bytes() const;
  std::uint64_t processes_peak() const;
  std::uint64_t refused_forks() const;
};

// Status of a file operation while limits are prepared.
Error cgroup_failure(std::string_view call, std::string_view what, int error);

}  // namespace harn::run

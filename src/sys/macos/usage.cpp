// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include "sys/descriptors.h"

namespace harn::sys {

// Darwin counts bytes where everybody else counts kibibytes.
std::uint64_t max_resident_bytes(const rusage& used) { return static_cast<std::uint64_t>(used.ru_maxrss); }

std::int64_t modified_ms(const struct stat& status) {
  return std::int64_t{status.st_mtimespec.tv_sec} * 1000 + status.st_mtimespec.tv_nsec / 1'000'000;
}

// fsync leaves the bytes in the disk's own memory.
int sync_bytes(int fd) { return ::fcntl(fd, F_FULLFSYNC) == 0 ? 0 : ::fsync(fd); }

const clockid_t clock_since_boot = CLOCK_MONOTONIC;

}  // namespace harn::sys

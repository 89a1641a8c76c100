// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "sys/descriptors.h"

namespace harn::sys {

std::uint64_t max_resident_bytes(const rusage& used) { return static_cast<std::uint64_t>(used.ru_maxrss) * 1024; }

std::int64_t modified_ms(const struct stat& status) {
  return std::int64_t{status.st_mtim.tv_sec} * 1000 + status.st_mtim.tv_nsec / 1'000'000;
}

int sync_bytes(int fd) { return ::fdatasync(fd); }

const clockid_t clock_since_boot = CLOCK_BOOTTIME;

}  // namespace harn::sys

// SPDX-License-Identifier: Apache-2.0
// Descriptors, signals and usage: what every Unix has, each in its own way.
#pragma once

#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include <cstdint>

#include "harn/result.h"
#include "sys/unique_fd.h"

namespace harn::sys {

struct Pipe {
  UniqueFd read = {};
  UniqueFd write = {};
};
// Both ends are closed at exec.
Result<Pipe> open_pipe();

UniqueFd open_datagram_socket();  // AF_UNIX, closed at exec; empty where there is none

// /dev/null and the like: nothing can be found out or changed through them.
bool is_memory_device(const struct stat& status);

// The next signal that waits in the descriptor in which this program collects its own; 0 = none does.
int next_signal(int signal_fd);

// The most memory it had at one time.
std::uint64_t max_resident_bytes(const rusage& used);

// When its bytes last changed, since 1970.
std::int64_t modified_ms(const struct stat& status);

// The bytes of a file survive a power failure when this returns 0.
int sync_bytes(int fd);

// A clock that never goes back and also runs while the machine sleeps.
extern const clockid_t clock_since_boot;

}  // namespace harn::sys

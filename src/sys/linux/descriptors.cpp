// SPDX-License-Identifier: Apache-2.0
#include "sys/descriptors.h"

#include <fcntl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>

#include "sys/files.h"

namespace harn::sys {

Result<Pipe> open_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(os_failure("pipe2", "for standard streams", errno, Stage::prepare));
  return Pipe{.read = UniqueFd(ends[0]), .write = UniqueFd(ends[1])};
}

UniqueFd open_datagram_socket() { return UniqueFd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)); }

bool is_memory_device(const struct stat& status) {
  constexpr unsigned memory_devices = 1;  // /dev/null, zero, full, …
  return S_ISCHR(status.st_mode) && major(status.st_rdev) == memory_devices;
}

int next_signal(int signal_fd) {
  signalfd_siginfo arrived = {};
  return ::read(signal_fd, &arrived, sizeof arrived) == static_cast<ssize_t>(sizeof arrived) ? static_cast<int>(arrived.ssi_signo) : 0;
}

std::uint64_t max_resident_bytes(const rusage& used) { return static_cast<std::uint64_t>(used.ru_maxrss) * 1024; }

std::int64_t modified_ms(const struct stat& status) {
  return std::int64_t{status.st_mtim.tv_sec} * 1000 + status.st_mtim.tv_nsec / 1'000'000;
}

int sync_bytes(int fd) { return ::fdatasync(fd); }

const clockid_t clock_since_boot = CLOCK_BOOTTIME;

}  // namespace harn::sys

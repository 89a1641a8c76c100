// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

#include "harn/embed.h"
#include "sys/files.h"

namespace harn {

Result<Stop> Stop::make() {
  const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) return fail(sys::os_failure("eventfd", "for stopping a command", errno, Stage::prepare));
  return Stop(fd);
}

Stop::Stop(Stop&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Stop& Stop::operator=(Stop&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Stop::~Stop() {
  if (fd_ >= 0) ::close(fd_);
}

void Stop::request() const {
  constexpr std::uint64_t one = 1;
  while (::write(fd_, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

}  // namespace harn

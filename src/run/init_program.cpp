// SPDX-License-Identifier: Apache-2.0
#include "run/init_program.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "run/init_bytes.h"
#include "sys/files.h"

namespace harn::run {
namespace {

constexpr unsigned executable = 0x10;  // MFD_EXEC, Linux 6.3: said aloud where sysctl vm.memfd_noexec asks
constexpr int first_free_fd = 10;

Error failed(std::string_view call, int error) { return sys::os_failure(call, "harn-init", error, Stage::prepare); }

}  // namespace

Result<sys::UniqueFd> open_init_program() {
  sys::UniqueFd fd(::memfd_create("harn-init", MFD_CLOEXEC | executable));
  if (!fd && errno == EINVAL) fd = sys::UniqueFd(::memfd_create("harn-init", MFD_CLOEXEC));
  if (!fd) return fail(failed("memfd_create", errno));
  if (::write(fd.get(), init_bytes, sizeof init_bytes) != static_cast<ssize_t>(sizeof init_bytes)) return fail(failed("write", errno));
  // Away from the numbers the init program uses for its pipes.
  sys::UniqueFd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, first_free_fd));
  if (!moved) return fail(failed("fcntl", errno));
  return moved;
}

}  // namespace harn::run

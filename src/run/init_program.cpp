// SPDX-License-Identifier: Apache-2.0
#include "run/init_program.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <span>

#include "run/init_bytes.h"
#include "run/keeper_bytes.h"
#include "run/supervisor_bytes.h"
#include "sys/files.h"

namespace harn::run {
namespace {

constexpr unsigned executable = 0x10;  // MFD_EXEC, Linux 6.3: said aloud where sysctl vm.memfd_noexec asks
constexpr int first_free_fd = 10;

Result<sys::UniqueFd> open_program(const char* name, std::span<const unsigned char> bytes) {
  const auto failed = [&](std::string_view call) { return fail(sys::os_failure(call, name, errno, Stage::prepare)); };
  sys::UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | executable));
  if (!fd && errno == EINVAL) fd = sys::UniqueFd(::memfd_create(name, MFD_CLOEXEC));
  if (!fd) return failed("memfd_create");
  if (::write(fd.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) return failed("write");
  // Away from the numbers the program uses for what it is given.
  sys::UniqueFd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, first_free_fd));
  if (!moved) return failed("fcntl");
  return moved;
}

}  // namespace

Result<sys::UniqueFd> open_init_program() { return open_program("harn-init", init_bytes); }

Result<sys::UniqueFd> open_supervisor_program() { return open_program("harn-supervisor", supervisor_bytes); }

Result<sys::UniqueFd> open_keeper_program() { return open_program("harn-keeper", keeper_bytes); }

}  // namespace harn::run

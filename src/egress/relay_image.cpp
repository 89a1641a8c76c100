// SPDX-License-Identifier: Apache-2.0
#include "egress/relay_image.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string_view>

#include "sys/files.h"

// A header with a million numbers would take the compiler longer than all the rest.
asm(".pushsection .rodata\n"
    ".balign 16\n"
    ".globl harn_relay_begin\n"
    "harn_relay_begin:\n"
    ".incbin \"" HARN_RELAY_PROGRAM
    "\"\n"
    ".globl harn_relay_end\n"
    "harn_relay_end:\n"
    ".popsection\n");

extern "C" {
[[gnu::visibility("hidden")]] extern const char harn_relay_begin[];
[[gnu::visibility("hidden")]] extern const char harn_relay_end[];
}

namespace harn::egress {
namespace {

constexpr unsigned executable = 0x10;  // MFD_EXEC, Linux 6.3: said aloud where sysctl vm.memfd_noexec asks
constexpr int first_free_fd = 10;

Error failed(std::string_view call, int error) { return sys::os_failure(call, "harn-relay", error, Stage::prepare); }

}  // namespace

Result<sys::UniqueFd> open_relay_program() {
  sys::UniqueFd fd(::memfd_create("harn-relay", MFD_CLOEXEC | executable));
  if (!fd && errno == EINVAL) fd = sys::UniqueFd(::memfd_create("harn-relay", MFD_CLOEXEC));
  if (!fd) return fail(failed("memfd_create", errno));
  const std::string_view image(harn_relay_begin, static_cast<std::size_t>(harn_relay_end - harn_relay_begin));
  if (const int error = sys::write_all(fd.get(), image); error != 0) return fail(failed("write", error));
  sys::UniqueFd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, first_free_fd));
  if (!moved) return fail(failed("fcntl", errno));
  return moved;
}

}  // namespace harn::egress

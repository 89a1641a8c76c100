// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <linux/stat.h>

#include "run/supervisor/calls.h"

namespace harn::run::supervisor {
namespace {

bool is_own_mount(std::uint64_t wanted) {
  const Fd file(raw_syscall(SYS_openat, AT_FDCWD, word_of("/proc/self/mountinfo"), O_RDONLY | O_CLOEXEC));
  char bytes[4096];
  std::uint64_t number = 0;
  bool in_number = true;  // each line begins with one
  for (Word got = 0; file && (got = raw_syscall(SYS_read, file.get(), word_of(bytes), sizeof bytes)) > 0;)
    for (Word i = 0; i < got; ++i) {
      const char c = bytes[i];
      if (in_number && c >= '0' && c <= '9') {
        number = number * 10 + static_cast<std::uint64_t>(c - '0');
        continue;
      }
      if (in_number && number == wanted) return true;
      in_number = c == '\n';
      number = 0;
    }
  return false;
}

}  // namespace

// Where there is no view every mount is ours, and the rules decide by the path.
bool is_guest(const Request& request, const Place& place) {
  if (!request.guests || place.end != End::object || !S_ISREG(place.mode) || is_nameless(place)) return false;
  constexpr unsigned mount_id = 0x1000;  // STATX_MNT_ID, Linux 5.8
  alignas(8) char status[256] = {};
  if (raw_syscall(SYS_statx, place.object.get(), word_of(""), AT_EMPTY_PATH, mount_id, word_of(status)) < 0) return true;
  std::uint32_t known = 0;
  std::uint64_t id = 0;
  __builtin_memcpy(&known, status, sizeof known);
  __builtin_memcpy(&id, status + 0x90, sizeof id);  // stx_mnt_id
  return (known & mount_id) == 0 || !is_own_mount(id);
}

}  // namespace harn::run::supervisor

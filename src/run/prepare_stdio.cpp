// SPDX-License-Identifier: Apache-2.0
#include "run/prepare_stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "sys/files.h"

namespace harn::run {

using child::Op;

Status write_stdio(const LaunchSettings& settings, ScriptWriter& inner) {
  for (int target = 0; target < 3; ++target) {
    int source = settings.stdio[static_cast<std::size_t>(target)];
    if (source == target) continue;
    if (source < 3) {
      sys::UniqueFd moved(::fcntl(source, F_DUPFD_CLOEXEC, first_free_fd));
      if (!moved) return fail(sys::os_failure("fcntl", "F_DUPFD_CLOEXEC", errno, Stage::prepare));
      source = inner.keep().fd(std::move(moved));
    }
    inner.add({.op = Op::move_fd, .number = source, .mask = static_cast<std::uint64_t>(target)}, fmt::format("set descriptor {}", target));
  }
  return {};
}

void write_terminals(const LaunchSettings& settings, ScriptWriter& inner) {
  struct stat shown = {};
  if (terminal_name(settings).empty() || ::fstat(settings.terminal_fd, &shown) != 0) return;
  for (int target = 0; target < 3; ++target) {
    const int source = settings.stdio[static_cast<std::size_t>(target)];
    struct stat status = {};
    if (::fstat(source, &status) != 0 || !S_ISCHR(status.st_mode) || status.st_rdev != shown.st_rdev) continue;
    const auto flags = static_cast<unsigned>(::fcntl(source, F_GETFL)) & O_ACCMODE;
    inner.add({.op = Op::reopen, .number = target, .mask = flags | O_NOCTTY | O_CLOEXEC, .text = "/dev/console"},
              fmt::format("open the terminal anew as descriptor {}", target));
  }
}

std::string terminal_name(const LaunchSettings& settings) {
  char name[64];
  if (settings.terminal_fd < 0) return {};
  return ::ttyname_r(settings.terminal_fd, name, sizeof name) == 0 ? name : std::string();
}

}  // namespace harn::run

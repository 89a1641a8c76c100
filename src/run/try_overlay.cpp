// SPDX-License-Identifier: Apache-2.0
#include "run/try_overlay.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "run/spawn_failure.h"
#include "sys/files.h"

namespace harn::run {
namespace {

// Everything the child needs is made before it is: it may come from a program with other threads.
struct LayerTrial {
  std::string users = {};
  std::string groups = {};
  struct Directory {
    const char* option = nullptr;
    std::string path = {};
    int number = -1;  // of a descriptor that gives way to the directory as the child sees it
    std::string by_number = {};
  };
  std::array<Directory, 3> directories = {};
};

void write_text(const char* file, const std::string& text) {
  const int fd = ::open(file, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  std::ignore = ::write(fd, text.data(), text.size());
  ::close(fd);
}

int mount_here(const LayerTrial& trial) {
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return errno;
  write_text("/proc/self/setgroups", "deny");
  write_text("/proc/self/uid_map", trial.users);
  write_text("/proc/self/gid_map", trial.groups);
  const auto context = static_cast<int>(::syscall(SYS_fsopen, "overlay", FSOPEN_CLOEXEC));
  if (context < 0) return errno;
  for (const auto& directory : trial.directories) {
    // Only now: what was opened before stands on mounts of the other namespace, and no layer can lie over those.
    const int opened = ::open(directory.path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0 || ::dup3(opened, directory.number, O_CLOEXEC) < 0) return errno;
    if (::syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, directory.option, directory.by_number.c_str(), 0) != 0) return errno;
  }
  if (::syscall(SYS_fsconfig, context, FSCONFIG_SET_FLAG, "userxattr", nullptr, 0) != 0) return errno;
  if (::syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) return errno;
  return ::syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, 0) < 0 ? errno : 0;
}

}  // namespace

Status try_overlay(const AbsPath& tree, const AbsPath& layer) {
  LayerTrial trial{.users = fmt::format("{0} {0} 1", ::geteuid()), .groups = fmt::format("{0} {0} 1", ::getegid())};
  // By number: a path may hold the characters that separate them.
  std::array<sys::UniqueFd, 3> held;
  const std::array<std::pair<const char*, AbsPath>, 3> named{
      {{"lowerdir", tree}, {"upperdir", layer.join("upper")}, {"workdir", layer.join("work")}}};
  for (std::size_t i = 0; i < named.size(); ++i) {
    held[i] = sys::UniqueFd(::open(named[i].second.text().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!held[i]) return fail(sys::os_failure("open", named[i].second.text(), errno, Stage::prepare));
    trial.directories[i] = {.option = named[i].first,
                            .path = named[i].second.text(),
                            .number = held[i].get(),
                            .by_number = fmt::format("/proc/self/fd/{}", held[i].get())};
  }
  const pid_t child = ::fork();
  if (child < 0) return fail(sys::os_failure("fork", "to try a layer", errno, Stage::prepare));
  if (child == 0) ::_exit(mount_here(trial));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  const int error = WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
  return fail(Error{.code = ErrorCode::not_available,
                    .stage = Stage::prepare,
                    .os_error = error,
                    .message = fmt::format("no layer can lie over {}: {}", base::quoted(tree.text()), reason_of(error)),
                    .hint = "the kernel or one of the file systems cannot; see 'harn doctor'"});
}

}  // namespace harn::run

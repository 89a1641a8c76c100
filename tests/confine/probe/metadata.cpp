// SPDX-License-Identifier: Apache-2.0
// Ways to change what is known about a file without touching its content.
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "probe.h"

namespace probe {
namespace {

constexpr mode_t other_mode = 0640;
constexpr timespec long_ago[2] = {{1000, 0}, {1000, 0}};

int change_mode(Args args) { return verdict(::chmod(args[0].c_str(), other_mode)); }
int change_mode_at(Args args) { return verdict(::syscall(SYS_fchmodat, AT_FDCWD, args[0].c_str(), other_mode)); }
int change_mode_at2(Args args) {
  constexpr long fchmodat2_number = 452;  // Linux 6.6
  return verdict(::syscall(fchmodat2_number, AT_FDCWD, args[0].c_str(), other_mode, 0));
}
int change_owner(Args args) { return verdict(::chown(args[0].c_str(), ::getuid(), ::getgid())); }
int change_link_owner(Args args) { return verdict(::lchown(args[0].c_str(), ::getuid(), ::getgid())); }
int change_times(Args args) { return verdict(::utimensat(AT_FDCWD, args[0].c_str(), long_ago, 0)); }
int change_link_times(Args args) { return verdict(::utimensat(AT_FDCWD, args[0].c_str(), long_ago, AT_SYMLINK_NOFOLLOW)); }
int change_times_old(Args args) {
  const timeval times[2] = {{1000, 0}, {1000, 0}};
  return verdict(::utimes(args[0].c_str(), times));
}
int set_attribute(Args args) { return verdict(::setxattr(args[0].c_str(), "user.harn.probe", "x", 1, 0)); }
int remove_attribute(Args args) { return verdict(::removexattr(args[0].c_str(), "user.harn.planted")); }

int by_descriptor(Args args) {
  const int held = ::open(args[0].c_str(), O_PATH);
  if (held < 0) return errno;
  return verdict(::chmod(("/proc/self/fd/" + std::to_string(held)).c_str(), other_mode));
}

// A descriptor for reading is enough.
int mode_while_reading(Args args) {
  const int held = ::open(args[0].c_str(), O_RDONLY);
  return held < 0 ? errno : verdict(::fchmod(held, other_mode));
}

int times_while_reading(Args args) {
  const int held = ::open(args[0].c_str(), O_RDONLY);
  return held < 0 ? errno : verdict(::futimens(held, long_ago));
}

int set_flags(Args args) {
  const int held = ::open(args[0].c_str(), O_RDONLY);
  if (held < 0) return errno;
  int flags = 0;
  if (::ioctl(held, FS_IOC_GETFLAGS, &flags) != 0) return errno;
  flags |= FS_NODUMP_FL;
  return verdict(::ioctl(held, FS_IOC_SETFLAGS, &flags));
}

constexpr Probe table[] = {
    {"chmod", change_mode},
    {"fchmodat", change_mode_at},
    {"fchmodat2", change_mode_at2},
    {"chown", change_owner},
    {"lchown", change_link_owner},
    {"utimensat", change_times},
    {"utimensat_link", change_link_times},
    {"utimes", change_times_old},
    {"setxattr", set_attribute},
    {"removexattr", remove_attribute},
    {"chmod_by_descriptor", by_descriptor},
    {"fchmod_reading", mode_while_reading},
    {"futimens_reading", times_while_reading},
    {"set_flags", set_flags},
};

}  // namespace

Probes metadata() { return table; }

}  // namespace probe

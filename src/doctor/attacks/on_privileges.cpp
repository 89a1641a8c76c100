// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "doctor/attacks/inside.h"
#include "sys/unique_fd.h"

namespace harn::doctor {
namespace {

int answer(long result) { return result < 0 ? errno : 0; }

}  // namespace

// A program that gives rights away, such as sudo, would do so.
int gain_privileges(const Targets&) { return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 ? 0 : EPERM; }

int hold_capabilities(const Targets&) {
  __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct held[2] = {};
  if (::syscall(SYS_capget, &header, held) != 0) return errno;
  return held[0].effective != 0 || held[1].effective != 0 ? 0 : EPERM;
}

int make_namespaces(const Targets&) { return answer(::unshare(CLONE_NEWUSER)); }

int mount_something(const Targets&) {
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return errno;
  return answer(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr));
}

int use_io_uring(const Targets&) {
  char parameters[120] = {};
  const sys::UniqueFd ring(static_cast<int>(::syscall(SYS_io_uring_setup, 1, parameters)));
  return ring ? 0 : errno;
}

int add_a_key(const Targets&) {
  constexpr int process_keyring = -2;
  return answer(::syscall(SYS_add_key, "user", "harn-doctor", "x", 1, process_keyring));
}

// Into a terminal of its own making, as its session's terminal.
int push_input(const Targets&) {
  ::setsid();
  ::signal(SIGHUP, SIG_IGN);  // the terminal hangs up when we are done
  const sys::UniqueFd leader(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!leader || ::grantpt(leader.get()) != 0 || ::unlockpt(leader.get()) != 0) return errno;
  const char* name = ::ptsname(leader.get());
  const sys::UniqueFd terminal(name == nullptr ? -1 : ::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal || ::ioctl(terminal.get(), TIOCSCTTY, 0) != 0) return errno;
  char byte = 'x';
  return answer(::ioctl(terminal.get(), TIOCSTI, &byte));
}

int open_raw_device(const Targets& at) {
  const sys::UniqueFd fd(::open(at.text("device"), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  return fd ? 0 : errno;
}

}  // namespace harn::doctor

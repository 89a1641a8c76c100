// SPDX-License-Identifier: Apache-2.0
// Ways to type into the terminal of whoever started us, or into another one.
#include <fcntl.h>
#include <linux/tiocl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe.h"

namespace probe {
namespace {

int inject(Args) {
  char byte = 'x';
  return verdict(::ioctl(STDIN_FILENO, TIOCSTI, &byte));
}

// The kernel drops the high half of the request; so must the filter.
int inject_disguised(Args) {
  char byte = 'x';
  return verdict(::syscall(SYS_ioctl, STDIN_FILENO, 0x100000000L | TIOCSTI, &byte));
}

int inject_by_name(Args) {
  char byte = 'x';
  const int fd = ::open("/dev/tty", O_RDWR);
  return fd < 0 ? errno : verdict(::ioctl(fd, TIOCSTI, &byte));
}

// Only a console can do it; on any other terminal ENOTTY comes after the filter.
int console_selection(Args) {
  char request[2] = {TIOCL_GETSHIFTSTATE, 0};
  return verdict_past(::ioctl(STDIN_FILENO, TIOCLINUX, request), ENOTTY);
}

int line_discipline(Args) {
  int standard = 0;
  return verdict(::ioctl(STDIN_FILENO, TIOCSETD, &standard));
}

int write_to(Args args) {
  const int fd = ::open(args[0].c_str(), O_RDWR | O_NOCTTY);
  return fd < 0 ? errno : verdict(::write(fd, "x", 1));
}

constexpr Probe table[] = {
    {"tiocsti", inject},
    {"tiocsti_disguised", inject_disguised},
    {"tiocsti_by_name", inject_by_name},
    {"tioclinux", console_selection},
    {"tiocsetd", line_discipline},
    {"terminal_write", write_to},
};

}  // namespace

Probes terminal() { return table; }

}  // namespace probe

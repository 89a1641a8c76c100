// SPDX-License-Identifier: Apache-2.0
// What the launcher left open. args[0] is a descriptor number; the tests say what stands behind it.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe.h"

namespace probe {
namespace {

int number(Args args) { return ::atoi(args[0].c_str()); }

int use_file(Args args) {
  char byte = 0;
  return verdict(::pread(number(args), &byte, 1, 0));
}

int write_file(Args args) { return verdict(::pwrite(number(args), "x", 1, 0)); }

int use_directory(Args args) { return verdict(::openat(number(args), args[1].c_str(), O_RDONLY)); }

int use_socket(Args args) { return verdict(::send(number(args), "x", 1, MSG_NOSIGNAL)); }

int chdir_to(Args args) { return verdict(::fchdir(number(args))); }

// Whether reopening leads to a real file; a pipe that carries its content is not one.
int reopen(Args args, int flags) {
  const int fd = ::open(("/proc/self/fd/" + args[0]).c_str(), flags);
  if (fd < 0) return errno;
  struct stat seen = {};
  if (::fstat(fd, &seen) != 0) return errno;
  return S_ISREG(seen.st_mode) ? 0 : ESPIPE;
}

int reopen_for_writing(Args args) { return reopen(args, O_WRONLY | O_NONBLOCK); }
int reopen_for_reading(Args args) { return reopen(args, O_RDONLY | O_NONBLOCK); }

// Anything above the standard streams that is not the list of cases itself.
int any_other(Args) {
  struct stat seen = {};
  for (int fd = 3; fd < 1024; ++fd) {
    if (::fstat(fd, &seen) != 0) continue;
    char name[256] = {};
    if (::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), name, sizeof name - 1) < 0) return errno;
    if (std::string_view(name).ends_with("/cases")) continue;
    return 0;
  }
  return EBADF;
}

constexpr Probe table[] = {
    {"fd_read", use_file},
    {"fd_write", write_file},
    {"fd_openat", use_directory},
    {"fd_send", use_socket},
    {"fd_chdir", chdir_to},
    {"fd_reopen_writing", reopen_for_writing},
    {"fd_reopen_reading", reopen_for_reading},
    {"fd_any", any_other},
};

}  // namespace

Probes descriptors() { return table; }

}  // namespace probe

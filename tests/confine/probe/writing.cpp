// SPDX-License-Identifier: Apache-2.0
// Ways to change content or names.
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "probe.h"

namespace probe {
namespace {

int write_to(int fd) { return fd < 0 ? errno : verdict(::write(fd, "x", 1)); }

int open_write(Args args) { return write_to(::open(args[0].c_str(), O_WRONLY)); }
int open_append(Args args) { return write_to(::open(args[0].c_str(), O_WRONLY | O_APPEND)); }
int open_truncate(Args args) { return verdict(::open(args[0].c_str(), O_RDWR | O_TRUNC)); }
// Nothing is written: for files of the system whose content is nobody's to change.
int open_for_write(Args args) { return verdict(::open(args[0].c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY)); }
int create(Args args) { return write_to(::open(args[0].c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600)); }
int truncate_path(Args args) { return verdict(::truncate(args[0].c_str(), 0)); }
// O_TRUNC is honoured even where nothing may be written through the descriptor.
int truncate_reading(Args args) { return verdict(::open(args[0].c_str(), O_RDONLY | O_TRUNC)); }
int make_directory(Args args) { return verdict(::mkdir(args[0].c_str(), 0700)); }
int remove_directory(Args args) { return verdict(::rmdir(args[0].c_str())); }
int unlink_path(Args args) { return verdict(::unlink(args[0].c_str())); }
int make_link(Args args) { return verdict(::symlink(args[0].c_str(), args[1].c_str())); }
int hard_link(Args args) { return verdict(::link(args[0].c_str(), args[1].c_str())); }
int make_fifo(Args args) { return verdict(::mkfifo(args[0].c_str(), 0600)); }
int make_regular(Args args) { return verdict(::mknod(args[0].c_str(), S_IFREG | 0600, 0)); }
// The null device: harmless where it can be made.
int make_char(Args args) { return verdict(::mknod(args[0].c_str(), S_IFCHR | 0600, makedev(1, 3))); }
int make_block(Args args) { return verdict(::mknod(args[0].c_str(), S_IFBLK | 0600, makedev(7, 200))); }

int rename_path(Args args) { return verdict(::rename(args[0].c_str(), args[1].c_str())); }
int exchange(Args args) { return verdict(::renameat2(AT_FDCWD, args[0].c_str(), AT_FDCWD, args[1].c_str(), RENAME_EXCHANGE)); }

// Leaves a device node behind where it is permitted.
int whiteout(Args args) { return verdict(::renameat2(AT_FDCWD, args[0].c_str(), AT_FDCWD, args[1].c_str(), RENAME_WHITEOUT)); }

int bind_socket(Args args) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd < 0) return errno;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  args[0].copy(address.sun_path, sizeof address.sun_path - 1);
  return verdict(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address));
}

int temporary_in(Args args) { return write_to(::open(args[0].c_str(), O_WRONLY | O_TMPFILE, 0600)); }

// A file made inside gets a name outside.
int temporary_named(Args args) {
  const int fd = ::open(args[0].c_str(), O_WRONLY | O_TMPFILE, 0600);
  if (fd < 0) return errno;
  return verdict(::linkat(AT_FDCWD, ("/proc/self/fd/" + std::to_string(fd)).c_str(), AT_FDCWD, args[1].c_str(), AT_SYMLINK_FOLLOW));
}

int write_through_link(Args args) {
  if (::symlink(args[0].c_str(), args[1].c_str()) != 0) return errno;
  return open_write(args.subspan(1));
}

int write_through_hard_link(Args args) {
  if (::link(args[0].c_str(), args[1].c_str()) != 0) return errno;
  return open_write(args.subspan(1));
}

// The directory above is moved away and a fresh one takes its name.
int replace_parent(Args args) {
  if (::rename(args[0].c_str(), args[1].c_str()) != 0) return errno;
  if (::mkdir(args[0].c_str(), 0700) != 0) return errno;
  return create(args.subspan(2));
}

// The directory above is moved away and what it held is reached under the new name.
int move_parent_and_read(Args args) {
  if (::rename(args[0].c_str(), args[1].c_str()) != 0) return errno;
  char byte = 0;
  const int fd = ::open(args[2].c_str(), O_RDONLY);
  return fd < 0 ? errno : verdict(::read(fd, &byte, 1));
}

constexpr Probe table[] = {
    {"open_write", open_write},
    {"open_append", open_append},
    {"open_truncate", open_truncate},
    {"open_for_write", open_for_write},
    {"create", create},
    {"truncate", truncate_path},
    {"truncate_reading", truncate_reading},
    {"mkdir", make_directory},
    {"rmdir", remove_directory},
    {"unlink", unlink_path},
    {"symlink", make_link},
    {"link", hard_link},
    {"mkfifo", make_fifo},
    {"mknod", make_regular},
    {"make_char", make_char},
    {"make_block", make_block},
    {"rename", rename_path},
    {"exchange", exchange},
    {"whiteout", whiteout},
    {"bind_socket", bind_socket},
    {"temporary_in", temporary_in},
    {"temporary_named", temporary_named},
    {"write_through_link", write_through_link},
    {"write_through_hard_link", write_through_hard_link},
    {"replace_parent", replace_parent},
    {"move_parent_and_read", move_parent_and_read},
};

}  // namespace

Probes writing() { return table; }

}  // namespace probe

// SPDX-License-Identifier: Apache-2.0
// Whatever the launcher left open, a command holds its three standard streams and nothing else, and
// cannot turn a stream back into the file it came from.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "confine/support/stand.h"

namespace harn::confine {
namespace {

constexpr int file_number = 20;
constexpr int directory_number = 21;
constexpr int socket_number = 22;
constexpr int path_number = 23;

Extras left_open(Scene& scene) {
  Extras extras;
  const auto file = scene.fill("{own}/secret", "inherited_file");
  const auto directory = scene.fill("{own}", "inherited_directory");
  int ends[2] = {};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return extras;
  extras.add(ends[1]);
  extras.descriptors = {{extras.add(::open(file.c_str(), O_RDWR | O_CLOEXEC)), file_number},
                        {extras.add(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), directory_number},
                        {extras.add(ends[0]), socket_number},
                        {extras.add(::open(directory.c_str(), O_PATH | O_CLOEXEC)), path_number}};
  extras.input = extras.add(::open(scene.fill("{own}/secret", "input_reopened").c_str(), O_RDWR | O_CLOEXEC));
  return extras;
}

const Case inherited[] = {
    {.id = "inherited_file", .probe = "fd_read", .args = {"20"}, .view = "EBADF", .bare = "EBADF"},
    {.id = "inherited_file_written", .probe = "fd_write", .args = {"20"}, .view = "EBADF", .bare = "EBADF"},
    {.id = "inherited_directory", .probe = "fd_openat", .args = {"21", "secret"}, .view = "EBADF", .bare = "EBADF"},
    {.id = "inherited_directory_entered", .probe = "fd_chdir", .args = {"21"}, .view = "EBADF", .bare = "EBADF"},
    {.id = "inherited_parent", .probe = "fd_openat", .args = {"21", "../inherited_file/secret"}, .view = "EBADF", .bare = "EBADF"},
    {.id = "inherited_socket", .probe = "fd_send", .args = {"22"}, .view = "EBADF", .bare = "EBADF"},
    {.id = "inherited_path", .probe = "fd_openat", .args = {"23", "secret"}, .view = "EBADF", .bare = "EBADF"},
    {.id = "anything_else", .probe = "fd_any", .view = "EBADF", .bare = "EBADF"},
    {.id = "input_written", .probe = "fd_write", .args = {"0"}, .view = "ESPIPE EBADF", .bare = "ESPIPE EBADF"},
    {.id = "input_reopened", .probe = "fd_reopen_writing", .args = {"0"}, .view = "ESPIPE EACCES", .bare = "ESPIPE EACCES"},
    {.id = "input_reopened_for_reading", .probe = "fd_reopen_reading", .args = {"0"}, .view = "ESPIPE EACCES", .bare = "ESPIPE EACCES"},
};

// A directory as standard input is a way to everything beneath it.
Extras directory_as_input(Scene& scene) {
  Extras extras;
  extras.input = extras.add(::open(scene.fill("{own}", "opened").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return extras;
}

const Case directory_input[] = {
    {.id = "opened", .probe = "fd_openat", .args = {"0", "secret"}, .view = "ENOTDIR", .bare = "ENOTDIR"},
    {.id = "entered", .probe = "fd_chdir", .args = {"0"}, .view = "ENOTDIR", .bare = "ENOTDIR"},
};

const bool registered = promise({.name = "NoDescriptorIsInherited", .cases = inherited, .extras = left_open}) &&
                        promise({.name = "NoDirectoryAsInput", .cases = directory_input, .extras = directory_as_input});

}  // namespace
}  // namespace harn::confine

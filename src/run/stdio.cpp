// SPDX-License-Identifier: Apache-2.0
#include "run/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/descriptors.h"
#include "sys/files.h"

namespace harn::run {
namespace {

bool is_stream_socket(int fd) {
  sockaddr_storage name = {};
  int type = 0;
  socklen_t size = sizeof name;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size) != 0 || name.ss_family != AF_UNIX) return false;
  size = sizeof type;
  return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

enum class Handling : std::uint8_t {
  hand_over,
  relay,
  replace  // closed, or a directory: never the command's to hold
};

Handling handling_of(int fd) {
  struct stat seen = {};
  if (::fstat(fd, &seen) != 0 || S_ISDIR(seen.st_mode)) return Handling::replace;
  if (S_ISFIFO(seen.st_mode)) return Handling::hand_over;
  if (S_ISSOCK(seen.st_mode) && is_stream_socket(fd)) return Handling::hand_over;
  if (S_ISCHR(seen.st_mode) && (::isatty(fd) == 1 || sys::is_memory_device(seen))) return Handling::hand_over;
  return Handling::relay;
}

Status open_empty(Stdio& stdio, std::size_t index) {
  sys::UniqueFd fd(::open("/dev/null", (index == 0 ? O_RDONLY : O_WRONLY) | O_CLOEXEC));
  if (!fd) return fail(sys::os_failure("open", "/dev/null", errno, Stage::prepare));
  stdio.child[index] = fd.get();
  stdio.child_ends[index] = std::move(fd);
  return {};
}

Status open_pipe(Stdio& stdio, std::size_t index) {
  HARN_TRY(pipe, sys::open_pipe());
  const bool input = index == 0;
  stdio.child_ends[index] = std::move(input ? pipe.read : pipe.write);
  stdio.our_ends[index] = std::move(input ? pipe.write : pipe.read);
  stdio.child[index] = stdio.child_ends[index].get();
  const int ours = stdio.our_ends[index].get();
  if (::fcntl(ours, F_SETFL, O_NONBLOCK) != 0) return fail(sys::os_failure("fcntl", "O_NONBLOCK", errno, Stage::prepare));
  return {};
}

void hand_over(Stdio& stdio, std::size_t index) {
  const int fd = stdio.inherited[index];
  stdio.child[index] = fd;
  if (stdio.terminal_fd < 0 && ::tcgetattr(fd, &stdio.terminal_settings) == 0) stdio.terminal_fd = fd;
}

Status open_stream(Stdio& stdio, std::size_t index, bool count_output) {
  if (stdio.streams[index] == Stream::capture) return open_pipe(stdio, index);
  const auto handling = stdio.streams[index] == Stream::empty ? Handling::replace : handling_of(stdio.inherited[index]);
  if (handling == Handling::replace) {
    stdio.streams[index] = Stream::empty;
    return open_empty(stdio, index);
  }
  const bool through_us = stdio.streams[index] == Stream::tap || (count_output && index > 0);
  if (handling == Handling::relay || through_us) return open_pipe(stdio, index);
  hand_over(stdio, index);
  return {};
}

}  // namespace

Result<Stdio> open_stdio(StdioRequest request) {
  Stdio stdio;
  stdio.streams = request.streams;
  stdio.inherited = request.inherited;
  stdio.input = std::move(request.input);
  for (std::size_t i = 0; i < 3; ++i) HARN_OK(open_stream(stdio, i, request.count_output));
  return stdio;
}

}  // namespace harn::run

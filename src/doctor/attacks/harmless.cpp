// SPDX-License-Identifier: Apache-2.0
// What must stay possible beside each refusal. A sandbox that refuses everything is easy.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor/attacks/inside.h"
#include "sys/unique_fd.h"

namespace harn::doctor {
namespace {

int answer(long result) { return result < 0 ? errno : 0; }

}  // namespace

int run_at_all(const Targets&) { return 0; }

int read_inside(const Targets& at) {
  const sys::UniqueFd fd(::open(at.text("own_file"), O_RDONLY | O_CLOEXEC));
  char byte = 0;
  return fd ? answer(::read(fd.get(), &byte, 1)) : errno;
}

int write_inside(const Targets& at) {
  const std::string path = std::string(at.text("inside")) + "/twin";
  const sys::UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR));
  return fd ? answer(::write(fd.get(), "x", 1)) : errno;
}

int chmod_inside(const Targets& at) { return answer(::chmod(at.text("own_file"), S_IRUSR | S_IWUSR)); }

int use_socket_pair(const Targets&) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return errno;
  const sys::UniqueFd one(ends[0]);
  const sys::UniqueFd other(ends[1]);
  return answer(::write(one.get(), "x", 1));
}

int signal_own_child(const Targets&) {
  const pid_t child = ::fork();
  if (child < 0) return errno;
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const int error = answer(::kill(child, SIGKILL));
  int status = 0;
  ::waitpid(child, &status, 0);
  return error;
}

int read_own_process(const Targets&) {
  const sys::UniqueFd fd(::open("/proc/self/status", O_RDONLY | O_CLOEXEC));
  return fd ? 0 : errno;
}

int find_variable(const Targets& at) { return at.text("plain_value") == at.own_variable(at.text("plain_name")) ? 0 : ENOENT; }

}  // namespace harn::doctor

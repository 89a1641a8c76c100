// SPDX-License-Identifier: Apache-2.0
// The process outside is the doctor itself; nothing here harms it.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor/attacks/inside.h"
#include "sys/unique_fd.h"

namespace harn::doctor {
namespace {

int answer(long result) { return result < 0 ? errno : 0; }

pid_t doctor_of(const Targets& at) { return static_cast<pid_t>(at.number("pid")); }

std::string proc_file(const Targets& at, const char* name) { return "/proc/" + std::string(at.text("pid")) + name; }

// Holds the pipe open, and ends when nobody reads it any more.
[[noreturn]] void linger(int pipe) {
  pollfd reader = {.fd = pipe, .events = 0, .revents = 0};
  while (::poll(&reader, 1, -1) < 0 && errno == EINTR) {
  }
  ::_exit(0);
}

}  // namespace

int signal_outside(const Targets& at) { return answer(::kill(doctor_of(at), 0)); }

int see_process(const Targets& at) {
  struct stat status = {};
  return answer(::stat(proc_file(at, "").c_str(), &status));
}

int read_environment(const Targets& at) {
  const sys::UniqueFd fd(::open(proc_file(at, "/environ").c_str(), O_RDONLY | O_CLOEXEC));
  char byte = 0;
  return fd ? answer(::read(fd.get(), &byte, 1)) : errno;
}

int trace_outside(const Targets& at) {
  const int error = answer(::ptrace(PTRACE_SEIZE, doctor_of(at), nullptr, nullptr));
  if (error == 0) ::ptrace(PTRACE_DETACH, doctor_of(at), nullptr, nullptr);
  return error;
}

int read_memory(const Targets& at) {
  char byte = 0;
  iovec here = {.iov_base = &byte, .iov_len = 1};
  iovec there = {.iov_base = reinterpret_cast<void*>(static_cast<std::uintptr_t>(at.number("address"))), .iov_len = 1};
  return answer(::process_vm_readv(doctor_of(at), &here, 1, &there, 1, 0));
}

int take_descriptor(const Targets& at) {
  const sys::UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, doctor_of(at), 0)));
  if (!process) return errno;
  const sys::UniqueFd taken(static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), at.number("held"), 0)));
  return taken ? 0 : errno;
}

// To what it already is.
int limit_outside(const Targets& at) {
  rlimit now = {};
  if (::prlimit(doctor_of(at), RLIMIT_CORE, nullptr, &now) != 0) return errno;
  return answer(::prlimit(doctor_of(at), RLIMIT_CORE, &now, nullptr));
}

int attach_memory(const Targets& at) {
  const void* memory = ::shmat(static_cast<int>(at.number("segment")), nullptr, SHM_RDONLY);
  return reinterpret_cast<std::intptr_t>(memory) == -1 ? errno : answer(::shmdt(memory));
}

// Two generations away, in a session of its own, without descriptors of the run.
int outlive_the_run(const Targets& at) {
  const pid_t child = ::fork();
  if (child < 0) return errno;
  if (child > 0) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
  }
  ::setsid();
  const int pipe = ::open(at.text("pipe"), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (pipe < 0 || ::write(pipe, "x", 1) != 1) ::_exit(errno);
  const pid_t grandchild = ::fork();
  if (grandchild != 0) ::_exit(grandchild < 0 ? errno : 0);
  for (const int number : {SIGHUP, SIGINT, SIGTERM}) ::signal(number, SIG_IGN);
  for (const int fd : {0, 1, 2}) ::close(fd);
  linger(pipe);
}

int find_secret(const Targets& at) { return at.text("secret_value") == at.own_variable(at.text("secret_name")) ? 0 : ENOENT; }

}  // namespace harn::doctor

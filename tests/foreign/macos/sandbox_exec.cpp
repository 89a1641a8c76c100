// SPDX-License-Identifier: Apache-2.0
// A stand-in for sandbox-exec that enforces a profile on Linux: every call of the command with a path or an address waits
// (seccomp), is judged by our reading of the profile on the resolved path, and fails with EPERM or goes on. Exit codes
// and messages are Apple's. Only for tests: between the judgement and the call the command could change its arguments.
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "foreign/macos/judge.h"

namespace {

using harn::standin::Asked;
using harn::standin::Judge;

constexpr int profile_not_understood = 65;
constexpr int command_not_executed = 71;
constexpr int wrong_words = 64;

const char* const watched[] = {
    "open",      "openat",     "creat",   "stat",      "lstat",    "newfstatat", "statx",    "access", "faccessat", "faccessat2",
    "readlink",  "readlinkat", "unlink",  "unlinkat",  "rmdir",    "mkdir",      "mkdirat",  "rename", "renameat",  "renameat2",
    "link",      "linkat",     "symlink", "symlinkat", "truncate", "chmod",      "fchmodat", "chown",  "lchown",    "fchownat",
    "utimensat", "mknod",      "mknodat", "execve",    "execveat", "connect",    "bind",     "sendto", "kill",      "chdir",
};
// Ways around what is watched.
const char* const refused[] = {"openat2", "io_uring_setup", "ptrace", "process_vm_writev", "sendmmsg", "mount", "unshare", "setns"};

int install_filter() {
  auto* filter = ::seccomp_init(SCMP_ACT_ALLOW);
  for (const auto* name : watched)
    if (const int number = ::seccomp_syscall_resolve_name(name); number >= 0) ::seccomp_rule_add(filter, SCMP_ACT_NOTIFY, number, 0);
  for (const auto* name : refused)
    if (const int number = ::seccomp_syscall_resolve_name(name); number >= 0) ::seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), number, 0);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::seccomp_load(filter) != 0) return -1;
  return ::seccomp_notify_fd(filter);
}

void send_descriptor(int socket, int fd) {
  char byte = 'l';
  iovec part = {.iov_base = &byte, .iov_len = 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  auto* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(head), &fd, sizeof fd);
  if (::sendmsg(socket, &message, 0) != 1) ::_exit(command_not_executed);
}

int receive_descriptor(int socket) {
  char byte = 0;
  iovec part = {.iov_base = &byte, .iov_len = 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  if (::recvmsg(socket, &message, 0) != 1) return -1;
  const auto* head = CMSG_FIRSTHDR(&message);
  int fd = -1;
  if (head != nullptr) std::memcpy(&fd, CMSG_DATA(head), sizeof fd);
  return fd;
}

void answer_one(int listener, const Judge& judge) {
  seccomp_notif* request = nullptr;
  seccomp_notif_resp* response = nullptr;
  if (::seccomp_notify_alloc(&request, &response) != 0) return;
  std::memset(request, 0, sizeof *request);
  if (::seccomp_notify_receive(listener, request) == 0) {
    const Asked asked{.pid = static_cast<pid_t>(request->pid),
                      .call = static_cast<int>(request->data.nr),
                      .arguments = {request->data.args[0], request->data.args[1], request->data.args[2], request->data.args[3],
                                    request->data.args[4], request->data.args[5]}};
    const int error = judge.error_for(asked);
    response->id = request->id;
    response->error = -error;
    response->flags = error == 0 ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
    ::seccomp_notify_respond(listener, response);
  }
  ::seccomp_notify_free(request, response);
}

[[noreturn]] void end_like(int status) {
  if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
  ::signal(WTERMSIG(status), SIG_DFL);
  ::kill(::getpid(), WTERMSIG(status));
  ::_exit(128 + WTERMSIG(status));
}

// Everybody who has the filter is answered, also those who outlive the command.
[[noreturn]] void serve(int listener, pid_t command, const Judge& judge) {
  std::optional<int> ended;
  for (;;) {
    pollfd ready = {.fd = listener, .events = POLLIN, .revents = 0};
    const int got = ::poll(&ready, 1, ended ? 0 : 20);
    if (got > 0 && (ready.revents & POLLIN) != 0) answer_one(listener, judge);
    else if (ended) end_like(*ended);
    int status = 0;
    if (!ended && ::waitpid(command, &status, WNOHANG) == command) ended = status;
  }
}

int run(const std::string& profile, char** command) {
  std::string problem;
  const auto judge = Judge::make(profile, problem);
  if (!judge) return std::fprintf(stderr, "sandbox-exec: %s\n", problem.c_str()), profile_not_understood;
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return command_not_executed;
  const pid_t pid = ::fork();
  if (pid == 0) {
    const int listener = install_filter();
    if (listener < 0) ::_exit(command_not_executed);
    send_descriptor(ends[1], listener);
    ::close(listener);
    ::execvp(command[0], command);
    std::fprintf(stderr, "sandbox-exec: execvp() of '%s' failed: %s\n", command[0], std::strerror(errno));
    ::_exit(command_not_executed);
  }
  ::close(ends[1]);
  const int listener = receive_descriptor(ends[0]);
  if (pid < 0 || listener < 0) return std::fprintf(stderr, "sandbox-exec: no listener: %s\n", std::strerror(errno)), command_not_executed;
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(number, SIG_IGN);  // the command's, who shares our group
  serve(listener, pid, *judge);
}

}  // namespace

int main(int argc, char** argv) {
  std::optional<std::string> profile;
  int at = 1;
  for (; at < argc && argv[at][0] == '-'; ++at) {
    const std::string word = argv[at];
    if (word == "--") {
      ++at;
      break;
    }
    if (at + 1 >= argc || (word != "-p" && word != "-f"))
      return std::fprintf(stderr, "Usage: sandbox-exec [options] command [args]\n"), wrong_words;
    ++at;
    if (word == "-p") profile = argv[at];
    else {
      std::ifstream file(argv[at]);
      profile.emplace(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
  }
  if (!profile || at >= argc) return std::fprintf(stderr, "Usage: sandbox-exec [options] command [args]\n"), wrong_words;
  return run(*profile, argv + at);
}

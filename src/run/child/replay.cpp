// SPDX-License-Identifier: Apache-2.0
// The loop, and the steps about life and becoming something else. Between clone and exec only the
// files of this folder run: raw system calls on prepared values, no allocation, no locks, no libc.
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "run/child/close_on_exec.h"
#include "run/child/replay.h"

namespace harn::run::child {
namespace {

constexpr Word failed_exit = 125;
constexpr Word kernel_signals = 64;

// The kernel's struct sigaction, which libc's is not.
struct KernelAction {
  void (*handler)(int) = nullptr;
  unsigned long flags = 0;
  void (*restorer)() = nullptr;
  std::uint64_t mask = 0;
};

Word length(const char* text) {
  Word n = 0;
  while (text[n] != '\0') ++n;
  return n;
}

Word write_all(int fd, const char* text) {
  const Word wanted = length(text);
  const Word written = raw_syscall(SYS_write, fd, word_of(text), wanted);
  if (written < 0) return written;
  return written == wanted ? 0 : -EIO;
}

Word write_file(const char* path, const char* text) {
  const Word fd = raw_syscall(SYS_openat, AT_FDCWD, word_of(path), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return fd;
  const Word result = write_all(static_cast<int>(fd), text);
  raw_syscall(SYS_close, fd);
  return result;
}

Word check_lifeline(int fd) {
  pollfd lifeline = {.fd = fd, .events = POLLIN, .revents = 0};
  timespec now = {};
  const Word ready = raw_syscall(SYS_ppoll, word_of(&lifeline), 1, word_of(&now), 0, 0);
  if (ready < 0) return ready;
  return (lifeline.revents & (POLLHUP | POLLERR)) != 0 ? -ECHILD : 0;
}

Word reset_signals(std::uint64_t mask) {
  KernelAction standard;
  for (Word signal = 1; signal <= kernel_signals; ++signal) {
    if ((mask >> (signal - 1) & 1u) == 0) continue;
    const Word result = raw_syscall(SYS_rt_sigaction, signal, word_of(&standard), 0, sizeof standard.mask);
    if (result < 0) return result;
  }
  return 0;
}

Word unblock_signals() {
  const std::uint64_t none = 0;
  return raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, word_of(&none), 0, sizeof none);
}

// The syscall filter refuses every key call later; this is the second lock. A kernel without keys and
// a user out of key quota have only the first.
Word new_keyring() {
  constexpr Word join_session_keyring = 1;
  const Word result = raw_syscall(SYS_keyctl, join_session_keyring, 0);
  return result == -ENOSYS || result == -EDQUOT || result == -EPERM ? 0 : result;
}

// SIGTTOU is blocked with every other signal, so a background group may do this.
Word take_terminal(int fd) {
  const int group = static_cast<int>(raw_syscall(SYS_getpgid, 0));
  return raw_syscall(SYS_ioctl, fd, TIOCSPGRP, word_of(&group));
}

// A terminal of another user may not be opened again; nor may it be changed by us then.
Word reopen(int number, const char* path, Word flags) {
  const Word fd = raw_syscall(SYS_openat, AT_FDCWD, word_of(path), flags);
  if (fd == -EACCES) return 0;
  if (fd < 0) return fd;
  const Word result = raw_syscall(SYS_dup3, fd, number, 0);
  raw_syscall(SYS_close, fd);
  return result;
}

// Who answers for us gets the listener and our number. Nothing between here and exec is trapped.
Word post_listener(Launch& launch, int post, int pid) {
  iovec text = {.iov_base = &pid, .iov_len = sizeof pid};
  const struct {  // struct cmsghdr with one descriptor
    std::size_t length = CMSG_LEN(sizeof(int));
    int level = SOL_SOCKET;
    int type = SCM_RIGHTS;
    int fd = -1;
    int padding = 0;
  } control = {.fd = launch.listener_fd};
  msghdr message = {};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = const_cast<void*>(static_cast<const void*>(&control));
  message.msg_controllen = sizeof control;
  const Word sent = raw_syscall(SYS_sendmsg, post, word_of(&message), 0);
  if (sent < 0) return sent;
  return sent == sizeof pid ? 0 : -EIO;
}

// Where even sending is trapped, a process from before the filter sends for us: it shares our descriptors and our memory,
// waits for the listener, and is gone before the command begins. It does not outlive us either.
int be_courier(void* given) {
  auto& launch = *static_cast<Launch*>(given);
  auto& courier = launch.courier;
  raw_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
  while (__atomic_load_n(&courier.ready, __ATOMIC_ACQUIRE) == 0) {
    if (raw_syscall(SYS_getppid) != courier.sender) return 1;
    const timespec soon = {.tv_sec = 0, .tv_nsec = 100'000'000};
    raw_syscall(SYS_futex, word_of(&courier.ready), FUTEX_WAIT, 0, word_of(&soon));
  }
  courier.result = post_listener(launch, courier.post, courier.sender);
  return 0;
}

Word start_courier(Launch& launch, int post) {
  auto& courier = launch.courier;
  courier.post = post;
  courier.sender = static_cast<int>(raw_syscall(SYS_getpid));
  const Word pid = start_beside(CLONE_FILES | SIGCHLD, courier.stack + sizeof courier.stack, be_courier, &launch);
  courier.process = static_cast<int>(pid);
  return pid < 0 ? pid : 0;
}

Word send_listener(Launch& launch, int post) {
  auto& courier = launch.courier;
  Word result = 0;
  if (courier.process == 0) {
    result = post_listener(launch, post, static_cast<int>(raw_syscall(SYS_getpid)));
  } else {
    __atomic_store_n(&courier.ready, 1, __ATOMIC_RELEASE);
    raw_syscall(SYS_futex, word_of(&courier.ready), FUTEX_WAKE, 1);
    Word ended = 0;
    do ended = raw_syscall(SYS_wait4, courier.process, 0, __WALL, 0);
    while (ended == -EINTR);
    result = ended < 0 ? ended : courier.result;
  }
  raw_syscall(SYS_close, launch.listener_fd);
  return result;
}

// Who started us may be gone before we asked: nobody would tell.
Word die_with_parent(const Launch& launch) {
  if (const Word result = raw_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL); result < 0) return result;
  return launch.starter == 0 || raw_syscall(SYS_getppid) == launch.starter ? 0 : -ESRCH;
}

Word start_inner(Launch& launch) {
  launch.starter = static_cast<int>(raw_syscall(SYS_getpid));
  const Word pid = start_sharing(SIGCHLD, launch.inner_stack_top, nullptr, replay_inner, &launch);
  if (pid < 0) return pid;
  if (launch.report.failed_step >= 0) raw_syscall(SYS_exit_group, failed_exit);
  return launch.report.exec_attempted != 0 ? 0 : -ECHILD;
}

// Whoever starts a keeper or a session's relay must be able to end before it, and need not wait for it later.
Word start_detached(Launch& launch, std::uint64_t namespaces) {
  const Word pid = start_sharing(static_cast<Word>(namespaces) | SIGCHLD, launch.inner_stack_top, nullptr, replay_inner, &launch);
  if (pid < 0) return pid;
  if (launch.report.failed_step < 0 && launch.report.init_attempted == 0 && launch.report.exec_attempted == 0) return -ECHILD;
  launch.detached_pid = static_cast<int>(pid);
  for (;;) raw_syscall(SYS_exit_group, 0);
}

// Nothing of the caller goes along: no environment, no descriptor but those it is given.
Word become_init(Launch& launch, int program) {
  Word result = 0;
  for (int i = 0; i < launch.kept_count && result >= 0; ++i) result = raw_syscall(SYS_dup3, launch.kept[i], first_kept_fd + i, 0);
  for (int fd = 0; fd < first_kept_fd; ++fd) raw_syscall(SYS_close, fd);
  if (result >= 0) result = close_on_exec_from(first_kept_fd + launch.kept_count);
  if (result < 0) return result;
  launch.report.init_attempted = 1;
  const char* nothing[] = {nullptr};
  return raw_syscall(SYS_execveat, program, word_of(""), word_of(launch.init_argv), word_of(nothing), AT_EMPTY_PATH);
}

// As execvp does, on a list made beforehand: the first that is there; one that may not be run is
// remembered in case none is.
Word become_command(Launch& launch) {
  launch.report.exec_attempted = 1;
  if (launch.program_fd >= 0)
    return raw_syscall(SYS_execveat, launch.program_fd, word_of(""), word_of(launch.argv), word_of(launch.envp), AT_EMPTY_PATH);
  Word answer = -ENOENT;
  for (std::size_t i = 0; i < launch.candidate_count; ++i) {
    Word result = raw_syscall(SYS_execve, word_of(launch.candidates[i]), word_of(launch.argv), word_of(launch.envp), 0, 0, own_exec);
    if (result == -ENOEXEC) {
      launch.shell_argv[1] = const_cast<char*>(launch.candidates[i]);
      result = raw_syscall(SYS_execve, word_of(launch.shell_argv[0]), word_of(launch.shell_argv), word_of(launch.envp), 0, 0, own_exec);
    }
    if (result == -EACCES) answer = result;
    else if (result != -ENOENT && result != -ENOTDIR) return result;
  }
  return answer;
}

Word await_word(int from) {
  char word = 0;
  Word got = 0;
  do got = raw_syscall(SYS_read, from, word_of(&word), 1);
  while (got == -EINTR);
  return got == 1 ? 0 : -ECANCELED;
}

Word perform(Launch& launch, const Step& step) {
  switch (step.op) {
    case Op::close_fd: return raw_syscall(SYS_close, step.number);
    case Op::die_with_parent: return die_with_parent(launch);
    case Op::check_lifeline: return check_lifeline(step.number);
    case Op::await_word: return await_word(step.number);
    case Op::take_orphans: return raw_syscall(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1);
    case Op::hide_launcher: return raw_syscall(SYS_prctl, PR_SET_DUMPABLE, 0);
    case Op::reset_signals: return reset_signals(step.mask);
    case Op::unblock_signals: return unblock_signals();
    case Op::write_file: return write_file(step.text, step.other);
    case Op::write_fd: return write_all(step.number, step.other);
    case Op::new_session: return raw_syscall(SYS_setsid);
    case Op::new_keyring: return new_keyring();
    case Op::new_group: return raw_syscall(SYS_setpgid, 0, 0);
    case Op::take_terminal: return take_terminal(step.number);
    case Op::own_terminal: return raw_syscall(SYS_ioctl, step.number, TIOCSCTTY, 0);
    case Op::move_fd: return raw_syscall(SYS_dup3, step.number, static_cast<Word>(step.mask), 0);
    case Op::reopen: return reopen(step.number, step.text, static_cast<Word>(step.mask));
    case Op::start_inner: return start_inner(launch);
    case Op::start_detached: return start_detached(launch, step.mask);
    case Op::become_init: return become_init(launch, step.number);
    case Op::become_command: return become_command(launch);
    case Op::refuse_open:
    case Op::refuse_open_at:
    case Op::refuse_socket:
    case Op::refuse_signal:
    case Op::refuse_calls: return prove(step);
    case Op::change_directory:
    case Op::set_limit:
    case Op::drop_capabilities:
    case Op::no_new_privileges:
    case Op::landlock_rule:
    case Op::landlock_enforce:
    case Op::close_others:
    case Op::keep_fd: return narrow(step);
    case Op::syscall_filter: return launch.listener_fd = static_cast<int>(narrow(step));
    case Op::start_courier: return start_courier(launch, step.number);
    case Op::send_listener: return send_listener(launch, step.number);
    case Op::raise_loopback:
    case Op::ask_netlink:
    case Op::open_gate:
    case Op::send_gates: return build_network(launch, step);
    default: return build_view(launch, step);
  }
}

// A canary that could be reached answers 0 where it had to fail: reported with error 0.
constexpr Word reached = 1;

// False when a step failed; the report says which.
bool replay_all(Launch& launch, const Script& script, bool inner) {
  for (std::size_t i = 0; i < script.count; ++i) {
    const bool faulty = static_cast<std::int32_t>(i) == launch.fault.step && inner == launch.fault.inner;
    const Word injected = launch.fault.error == 0 ? reached : -launch.fault.error;
    const Word result = faulty ? injected : perform(launch, script.steps[i]);
    const bool canary = script.steps[i].op >= Op::refuse_open && script.steps[i].op <= Op::refuse_calls;
    if (result >= 0 && !(canary && result == reached)) continue;
    launch.report.inner = inner ? 1 : 0;
    launch.report.error = static_cast<std::int32_t>(result < 0 ? -result : 0);
    launch.report.failed_step = static_cast<std::int32_t>(i);
    return false;
  }
  return true;
}

[[noreturn]] void replay(Launch& launch, const Script& script, bool inner) {
  replay_all(launch, script, inner);
  for (;;) raw_syscall(SYS_exit_group, failed_exit);
}

}  // namespace

int replay_outer(void* launch) noexcept {
  auto& given = *static_cast<Launch*>(launch);
  replay(given, given.outer, /*inner=*/false);
}

bool replay_here(Launch& launch) noexcept { return replay_all(launch, launch.inner, /*inner=*/true); }

int replay_inner(void* launch) noexcept {
  auto& given = *static_cast<Launch*>(launch);
  replay(given, given.inner, /*inner=*/true);
}

}  // namespace harn::run::child

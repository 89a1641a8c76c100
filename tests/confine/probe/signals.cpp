// SPDX-License-Identifier: Apache-2.0
// Ways to send a signal. The process outside counts SIGUSR1, SIGURG and SIGIO; the first is aimed at
// it, the other two reach whole groups and would not end anybody who does not expect them.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe.h"

namespace probe {
namespace {

pid_t pid_of(Args args) { return ::atoi(args[0].c_str()); }

int by_kill(Args args) { return verdict(::kill(pid_of(args), SIGUSR1)); }
int by_check(Args args) { return verdict(::kill(pid_of(args), 0)); }
int by_group(Args args) { return verdict(::kill(-pid_of(args), SIGURG)); }
int to_own_group(Args) { return verdict(::kill(0, SIGURG)); }
int to_everybody(Args) { return verdict(::kill(-1, SIGURG)); }
int by_tkill(Args args) { return verdict(::syscall(SYS_tkill, pid_of(args), SIGUSR1)); }
int by_tgkill(Args args) { return verdict(::syscall(SYS_tgkill, pid_of(args), pid_of(args), SIGUSR1)); }

int by_queue(Args args) {
  const sigval value = {};
  return verdict(::sigqueue(pid_of(args), SIGUSR1, value));
}

int by_thread_queue(Args args) {
  siginfo_t information = {};
  information.si_signo = SIGUSR1;
  information.si_code = SI_QUEUE;
  return verdict(::syscall(SYS_rt_tgsigqueueinfo, pid_of(args), pid_of(args), SIGUSR1, &information));
}

int by_pidfd(Args args) {
  const long held = ::syscall(SYS_pidfd_open, pid_of(args), 0);
  return held < 0 ? errno : verdict(::syscall(SYS_pidfd_send_signal, held, SIGUSR1, nullptr, 0));
}

// /proc/PID is a pidfd too.
int by_proc(Args args) {
  const int held = ::open(("/proc/" + args[0]).c_str(), O_RDONLY | O_DIRECTORY);
  return held < 0 ? errno : verdict(::syscall(SYS_pidfd_send_signal, held, SIGUSR1, nullptr, 0));
}

// The kernel sends it on our behalf when the pipe has something to read.
int by_owner(Args args) {
  int ends[2] = {};
  if (::pipe(ends) != 0) return errno;
  if (::fcntl(ends[0], F_SETOWN, pid_of(args)) != 0) return errno;
  if (::fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK) != 0) return errno;
  const int result = verdict(::write(ends[1], "x", 1));
  ::usleep(1000);
  return result;
}

int to_first(Args) { return verdict(::kill(1, SIGURG)); }

constexpr Probe table[] = {
    {"kill", by_kill},
    {"kill_check", by_check},
    {"kill_group", by_group},
    {"kill_own_group", to_own_group},
    {"kill_everybody", to_everybody},
    {"kill_first", to_first},
    {"tkill", by_tkill},
    {"tgkill", by_tgkill},
    {"sigqueue", by_queue},
    {"rt_tgsigqueueinfo", by_thread_queue},
    {"pidfd_send_signal", by_pidfd},
    {"proc_send_signal", by_proc},
    {"file_owner", by_owner},
};

}  // namespace

Probes signals() { return table; }

}  // namespace probe

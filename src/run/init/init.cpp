// SPDX-License-Identifier: Apache-2.0
// Pid 1 of a view: a program of its own, so that its memory, environment and descriptors hold
// nothing of the launcher. It reaps, passes signals on, says how the command ended, and ends with
// it; the kernel then ends whatever else is left in the namespace. No libc: it must start in no time
// and a thousand of them must fit.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "run/child/raw_syscall.h"
#include "run/init/protocol.h"

using harn::run::child::raw_syscall;
using harn::run::child::Word;
using harn::run::child::word_of;
namespace init = harn::run::init;

namespace {

struct KernelAction {
  void (*handler)(int) = nullptr;
  unsigned long flags = 0;
  void (*restorer)() = nullptr;
  unsigned long mask = 0;
};

// Never called: ppoll is left when the signal arrives, and the handler needs no frame of its own
// because SIGCHLD is only let in while ppoll waits.
void on_child(int) {}

#if defined(__x86_64__)
extern "C" void harn_restore_signal();
asm(".globl harn_restore_signal\nharn_restore_signal:\n\tmov $15, %eax\n\tsyscall\n");
constexpr unsigned long action_flags = 0x04000000;  // SA_RESTORER
#else
void harn_restore_signal() {}
constexpr unsigned long action_flags = 0;
#endif

[[noreturn]] void leave(int code) {
  for (;;) raw_syscall(SYS_exit_group, code);
}

void tell(const init::Record& record) { raw_syscall(SYS_write, init::status_fd, word_of(&record), sizeof record); }

struct Life {
  bool command_ended = false;
  int status = 0;
  unsigned long swept = 0;
};

// Everything that ended since the last look. False when nobody is left.
bool reap(Life& life, int options) {
  for (;;) {
    int status = 0;
    const Word pid = raw_syscall(SYS_wait4, -1, word_of(&status), options | WUNTRACED, 0);
    if (pid == -EINTR) continue;
    if (pid <= 0) return pid == 0;
    if ((status & 0xff) == 0x7f) {  // stopped, not ended
      if (pid == init::command_pid) tell({.kind = init::Record::stopped, .status = status});
      continue;
    }
    if (pid == init::command_pid && !life.command_ended) {
      life.command_ended = true;
      life.status = status;
      return true;
    }
    if (life.command_ended) ++life.swept;
  }
}

init::Record last_words(const Life& life) {
  rusage used = {};
  raw_syscall(SYS_getrusage, RUSAGE_CHILDREN, word_of(&used));
  return {.kind = init::Record::swept,
          .killed = life.swept,
          .cpu_us = static_cast<unsigned long>((used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 + used.ru_utime.tv_usec +
                                               used.ru_stime.tv_usec),
          .max_rss_kb = static_cast<unsigned long>(used.ru_maxrss),
          .blocks_out = static_cast<unsigned long>(used.ru_oublock)};
}

// Nobody outlives the command. Mostly nobody is left, and both records wake the launcher once.
[[noreturn]] void sweep(Life& life) {
  const init::Record ended = {.kind = init::Record::ended, .status = life.status};
  if (!reap(life, WNOHANG)) {
    const init::Record both[] = {ended, last_words(life)};
    raw_syscall(SYS_write, init::status_fd, word_of(both), sizeof both);
    leave(0);
  }
  tell(ended);
  raw_syscall(SYS_kill, -1, SIGKILL);
  while (reap(life, 0)) {
  }
  tell(last_words(life));
  leave(0);
}

// Only a member of the ipc namespace can ask for segments that nobody has attached.
void measure() {
  shm_info segments = {};
  raw_syscall(SYS_shmctl, 0, SHM_INFO, word_of(&segments));
  tell({.kind = init::Record::measured, .shared_pages = segments.shm_rss + segments.shm_swp});
}

// One byte: the number of a signal for the command, or for everybody. No byte: the launcher is gone.
void obey() {
  unsigned char order = 0;
  const Word got = raw_syscall(SYS_read, init::control_fd, word_of(&order), 1);
  if (got == 0) leave(init::abandoned_exit);
  if (got != 1) return;
  if (order == init::measure) return measure();
  const bool everybody = (order & init::to_everybody) != 0;
  const int number = order & ~init::to_everybody;
  raw_syscall(SYS_kill, everybody ? -1 : init::command_pid, number);
  if (everybody && number == SIGCONT) tell({.kind = init::Record::resumed});
}

[[noreturn]] void live() {
  raw_syscall(SYS_prctl, PR_SET_DUMPABLE, 0);
  raw_syscall(SYS_prctl, PR_SET_NAME, word_of("harn-init"));
  raw_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
  unsigned long child = 1ul << (SIGCHLD - 1);
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, word_of(&child), 0, sizeof child);
  KernelAction action = {.handler = on_child, .flags = action_flags, .restorer = harn_restore_signal};
  raw_syscall(SYS_rt_sigaction, SIGCHLD, word_of(&action), 0, sizeof action.mask);

  Life life;
  const unsigned long none = 0;
  for (;;) {
    reap(life, WNOHANG);
    if (life.command_ended) sweep(life);
    pollfd control = {.fd = init::control_fd, .events = POLLIN, .revents = 0};
    const Word ready = raw_syscall(SYS_ppoll, word_of(&control), 1, 0, word_of(&none), sizeof none);
    if (ready > 0) obey();
  }
}

}  // namespace

// Called by the first instruction below; there is nothing to return to.
extern "C" [[noreturn]] void harn_init_main() { live(); }

#if defined(__x86_64__)
asm(".globl _start\n_start:\n\txor %ebp, %ebp\n\tand $-16, %rsp\n\tcall harn_init_main\n");
#else
asm(".globl _start\n_start:\n\tmov x29, #0\n\tbl harn_init_main\n");
#endif

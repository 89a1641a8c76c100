// SPDX-License-Identifier: Apache-2.0
// Pid 1 of a view: a program of its own, so that its memory, environment and descriptors hold
// nothing of the launcher. It reaps, passes signals on, says how the command ended, and ends with
// it; the kernel then ends whatever else is left in the namespace. No libc: it must start in no time
// and a thousand of them must fit.
#include <poll.h>
#include <sys/prctl.h>
#include <sys/shm.h>

#include "run/init/first_process.h"

using harn::run::child::raw_syscall;
using harn::run::child::Word;
using harn::run::child::word_of;
namespace init = harn::run::init;

namespace {

using init::Life;

bool reap(Life& life, int options) {
  return init::reap(life, options, init::status_fd, [](int) { return true; });
}

[[noreturn]] void sweep(Life& life) {
  init::sweep(
      life, init::status_fd, [&] { return reap(life, WNOHANG); },
      [&] {
        raw_syscall(SYS_kill, -1, SIGKILL);
        while (reap(life, 0)) {
        }
      });
}

struct Hand {
  [[noreturn]] static void abandon() { init::leave(init::abandoned_exit); }
  // Only a member of the ipc namespace can ask for segments that nobody has attached.
  static void tell_measure() {
    shm_info segments = {};
    raw_syscall(SYS_shmctl, 0, SHM_INFO, word_of(&segments));
    init::tell(init::status_fd, {.kind = init::Record::measured, .shared_pages = segments.shm_rss + segments.shm_swp});
  }
  static void signal_command(int number) { raw_syscall(SYS_kill, init::command_pid, number); }
  static void signal_everybody(int number) { raw_syscall(SYS_kill, -1, number); }
};

[[noreturn]] void live() {
  raw_syscall(SYS_prctl, PR_SET_DUMPABLE, 0);
  raw_syscall(SYS_prctl, PR_SET_NAME, word_of("harn-init"));
  raw_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
  unsigned long child = 1ul << (SIGCHLD - 1);
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, word_of(&child), 0, sizeof child);
  init::be_woken_by_children();

  Life life{.command = init::command_pid};
  const unsigned long none = 0;
  for (;;) {
    reap(life, WNOHANG);
    if (life.ended) sweep(life);
    pollfd control = {.fd = init::control_fd, .events = POLLIN, .revents = 0};
    const Word ready = raw_syscall(SYS_ppoll, word_of(&control), 1, 0, word_of(&none), sizeof none);
    if (ready > 0) init::obey(init::control_fd, init::status_fd, Hand());
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

// SPDX-License-Identifier: Apache-2.0
// What the program that stands above a command needs, init or supervisor: it waits for everybody, tells how
// the command ended, and is woken by children. No libc, and everything inline: each is a program of its own.
#pragma once

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "run/child/raw_syscall.h"
#include "run/init/bytes_out.h"
#include "run/init/protocol.h"

namespace harn::run::init {

using child::raw_syscall;
using child::Word;
using child::word_of;

[[noreturn]] inline void leave(int code) {
  for (;;) raw_syscall(SYS_exit_group, code);
}

inline void tell(int fd, const Record& record) { raw_syscall(SYS_write, fd, word_of(&record), sizeof record); }

#if defined(__x86_64__)
extern "C" void harn_restore_signal();
asm(".weak harn_restore_signal\nharn_restore_signal:\n\tmov $15, %eax\n\tsyscall\n");
inline constexpr unsigned long action_flags = 0x04000000;  // SA_RESTORER
#else
inline void harn_restore_signal() {}
inline constexpr unsigned long action_flags = 0;
#endif

struct KernelAction {
  void (*handler)(int) = nullptr;
  unsigned long flags = 0;
  void (*restorer)() = nullptr;
  unsigned long mask = 0;
};

// The handler does nothing: ppoll is left when the signal arrives, and that is the only moment it is let in.
inline void be_woken_by_children() {
  const KernelAction action = {.handler = [](int) {}, .flags = action_flags, .restorer = harn_restore_signal};
  raw_syscall(SYS_rt_sigaction, SIGCHLD, word_of(&action), 0, sizeof action.mask);
}

struct Life {
  Word command = 0;
  bool ended = false;
  int status = 0;
  unsigned long swept = 0;  // who was still there when the command ended
};

// Everything that ended since the last look; `counts` says of a status whether its process had to be swept.
// False when nobody is left.
template <class Counts>
bool reap(Life& life, int options, int fd, Counts counts) {
  for (;;) {
    int status = 0;
    const Word pid = raw_syscall(SYS_wait4, -1, word_of(&status), options | WUNTRACED, 0);
    if (pid == -EINTR) continue;
    if (pid <= 0) return pid == 0;
    if ((status & 0xff) == 0x7f) {  // stopped, not ended
      if (pid == life.command) tell(fd, {.kind = Record::stopped, .status = status});
      continue;
    }
    if (pid == life.command && !life.ended) {
      life.ended = true;
      life.status = status;
      return true;
    }
    if (life.ended && counts(status)) ++life.swept;
  }
}

// `alone`: nobody else is left who could look into this memory.
// One byte: the number of a signal for the command, or for everybody. No byte: the launcher is gone. `hand` does it.
template <class Hand>
void obey(int control, int status, Hand hand) {
  unsigned char order = 0;
  const Word got = raw_syscall(SYS_read, control, word_of(&order), 1);
  if (got == 0) hand.abandon();
  if (got != 1) return;
  if (order == measure) return hand.tell_measure();
  const int number = order & ~to_everybody;
  if ((order & to_everybody) == 0) return hand.signal_command(number);
  hand.signal_everybody(number);
  if (number == SIGCONT) tell(status, {.kind = Record::resumed});
}

inline Record last_words(const Life& life, bool alone = true) {
  rusage used = {};
  raw_syscall(SYS_getrusage, RUSAGE_CHILDREN, word_of(&used));
  return {.kind = Record::swept,
          .killed = life.swept,
          .cpu_us = static_cast<unsigned long>((used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 + used.ru_utime.tv_usec +
                                               used.ru_stime.tv_usec),
          .max_rss_kb = static_cast<unsigned long>(used.ru_maxrss),
          .blocks_out = static_cast<unsigned long>(used.ru_oublock),
          .bytes_out = alone && may_have_met_file_limit(life.status) ? bytes_out() : 0};
}

// Nobody outlives the command. Mostly nobody is left, and both records wake the launcher once; else `end` ends them.
template <class Reap, class End>
[[noreturn]] void sweep(Life& life, int fd, Reap reap_now, End end) {
  const Record ended = {.kind = Record::ended, .status = life.status};
  if (!reap_now()) {
    const Record both[] = {ended, last_words(life)};
    raw_syscall(SYS_write, fd, word_of(both), sizeof both);
    leave(0);
  }
  tell(fd, ended);
  end();
  tell(fd, last_words(life));
  leave(0);
}

}  // namespace harn::run::init

// SPDX-License-Identifier: Apache-2.0
// The first program of a container. Tries what must be refused, tells the launcher, and only then starts
// the command; passes signals on, reaps, says exactly how it ended, and ends with it. When the launcher
// is gone it ends at once, and the kernel ends everything else in the container. No libc: it must start
// in any image, also in an empty one.
//
//   entry run    REPORT CPU CANARY PID NETWORK WRITABLE COMMAND…   the container's only command
//   entry hold   REPORT CPU CANARY PID NETWORK WRITABLE            a container that is kept
//   entry exec   REPORT CPU COMMAND…                               one command in it
//   entry keep   REPORT LIFE CANARY PID NETWORK WRITABLE           one that outlives who made it
//   entry join   REPORT CPU COMMAND…                               one of many commands in it
//   entry limits REPORT                                            are processes and memory limited?
// CPU are the seconds of processor time for everybody together, LIFE milliseconds. A dash stands for what is not tried or limited.
#include "run/entry/report.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <initializer_list>

#include "run/child/raw_syscall.h"
#include "run/init/bytes_out.h"
#include "run/supervisor/descendants.h"
#include "run/supervisor/kernel.h"

using harn::run::child::raw_syscall;
using harn::run::child::Word;
using harn::run::child::word_of;
namespace entry = harn::run::entry;
namespace init = harn::run::init;
namespace supervisor = harn::run::supervisor;

namespace {

constexpr int failed_exit = 125;
constexpr int not_executable_exit = 126;
constexpr int not_found_exit = 127;
constexpr int signal_base = 128;
constexpr int longest_path = 4096;
constexpr long ack_pause_ns = 500'000;
constexpr int ack_patience = 40'000;  // twenty seconds
constexpr long cpu_look_ns = 100'000'000;
constexpr long sweep_pause_ns = 100'000;

[[noreturn]] void leave(int code) {
  for (;;) raw_syscall(SYS_exit_group, code);
}

unsigned long length(const char* text) {
  unsigned long count = 0;
  while (text[count] != 0) ++count;
  return count;
}

bool same(const char* a, const char* b) {
  for (; *a != 0 && *a == *b; ++a, ++b) {
  }
  return *a == *b;
}

bool is_dash(const char* text) { return same(text, "-"); }

long number(const char* text) {
  long value = 0;
  for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + (*text - '0');
  return value;
}

void say(const char* text) { raw_syscall(SYS_write, 2, word_of(text), static_cast<Word>(length(text))); }

struct Trials {
  const char* canary;
  const char* pid;
  const char* network;
  const char* writable;
};

bool opens(const char* path, int flags) {
  const Word fd = raw_syscall(SYS_openat, AT_FDCWD, word_of(path), flags | O_CLOEXEC | O_NONBLOCK);
  if (fd >= 0) raw_syscall(SYS_close, fd);
  return fd >= 0;
}

unsigned try_doors(const Trials& trials) {
  unsigned doors = 0;
  if (!is_dash(trials.canary)) {
    if (opens(trials.canary, O_RDONLY)) doors |= entry::reads;
    if (opens(trials.canary, O_WRONLY)) doors |= entry::writes;
  }
  if (!is_dash(trials.pid) && raw_syscall(SYS_kill, number(trials.pid), 0) == 0) doors |= entry::signals;
  if (!is_dash(trials.network)) {
    const Word fd = raw_syscall(SYS_socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
      raw_syscall(SYS_close, fd);
      doors |= entry::network;
    }
  }
  if (!is_dash(trials.writable) && raw_syscall(SYS_faccessat, AT_FDCWD, word_of(trials.writable), W_OK) < 0) doors |= entry::unwritable;
  return doors;
}

class Launcher {
 public:
  explicit Launcher(const char* report)
      : fd_(static_cast<int>(raw_syscall(SYS_openat, AT_FDCWD, word_of(report), O_WRONLY | O_NONBLOCK | O_CLOEXEC))) {
    if (fd_ >= 0) return;
    say("harn: the container's first program cannot reach harn\n");
    leave(failed_exit);
  }

  int fd() const { return fd_; }
  void tell(const entry::Record& record) const { raw_syscall(SYS_write, fd_, word_of(&record), sizeof record); }

  bool gone() const {
    pollfd end = {.fd = fd_, .events = 0, .revents = 0};
    const timespec now = {};
    return raw_syscall(SYS_ppoll, word_of(&end), 1, word_of(&now), 0, 0) > 0;
  }

  // All rights taken from the pipe are its answer: nobody after us can open it.
  void await_answer() const {
    for (int i = 0; i < ack_patience; ++i) {
      struct stat status = {};
      raw_syscall(SYS_fstat, fd_, word_of(&status));
      if ((status.st_mode & 07777) == 0) return;
      if (gone()) break;
      const timespec pause = {.tv_sec = 0, .tv_nsec = ack_pause_ns};
      raw_syscall(SYS_nanosleep, word_of(&pause), 0);
    }
    leave(failed_exit);
  }

 private:
  int fd_;
};

int open_counter(const char* place) { return static_cast<int>(raw_syscall(SYS_openat, AT_FDCWD, word_of(place), O_RDONLY | O_CLOEXEC)); }

// A counter of the container's own cgroup, read by us before and after. Zero where it cannot be seen.
class Counter {
 public:
  Counter(const char* unified, const char* divided, const char* key) : key_(key) {
    for (const char* place : {unified, divided})
      if (fd_ < 0) fd_ = open_counter(place);
    before_ = count();
  }
  bool seen() const { return fd_ >= 0; }
  unsigned long since() const { return count() - before_; }

 private:
  unsigned long count() const {
    char text[1024] = {};
    if (fd_ < 0 || raw_syscall(SYS_pread64, fd_, word_of(text), sizeof text - 1, 0) <= 0) return 0;
    for (const char* line = text; *line != 0;) {
      const char* key = key_;
      const char* at = line;
      while (*key != 0 && *at == *key) ++at, ++key;
      if (*key == 0 && *at == ' ') return static_cast<unsigned long>(number(at + 1));
      while (*line != 0 && *line != '\n') ++line;
      if (*line == '\n') ++line;
    }
    return 0;
  }

  const char* key_;
  int fd_ = -1;
  unsigned long before_ = 0;
};

// Processor time of everybody in the container, in microseconds; none where its cgroup cannot be seen.
class CpuClock {
 public:
  CpuClock() : usage_("/sys/fs/cgroup/cpu.stat", "", "usage_usec") {
    for (const char* place : {"/sys/fs/cgroup/cpuacct/cpuacct.usage", "/sys/fs/cgroup/cpu,cpuacct/cpuacct.usage"})
      if (!usage_.seen() && plain_ < 0) plain_ = open_counter(place);
    before_ = plain();
  }
  bool seen() const { return usage_.seen() || plain_ >= 0; }
  unsigned long since() const { return usage_.seen() ? usage_.since() : (plain() - before_) / 1000; }

 private:
  // The older hierarchy has a file with nothing but nanoseconds in it.
  unsigned long plain() const {
    char text[32] = {};
    if (plain_ < 0 || raw_syscall(SYS_pread64, plain_, word_of(text), sizeof text - 1, 0) <= 0) return 0;
    return static_cast<unsigned long>(number(text));
  }

  Counter usage_;
  int plain_ = -1;
  unsigned long before_ = 0;
};

// Where the limit is N seconds, each process ends by the kernel's signal at N, and everybody together at N + 1: so it is with any other
// backend.
class CpuBudget {
 public:
  explicit CpuBudget(const char* seconds)
      : limited_(!is_dash(seconds)), limit_us_((static_cast<unsigned long>(number(seconds)) + 1) * 1000000) {}
  bool watched() const { return limited_ && clock_.seen(); }
  bool spent() const { return watched() && clock_.since() >= limit_us_; }

 private:
  bool limited_;
  unsigned long limit_us_;
  CpuClock clock_ = {};
};

struct Counters {
  Counter oom_kills{"/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control", "oom_kill"};
  Counter refused_forks{"/sys/fs/cgroup/pids.events", "/sys/fs/cgroup/pids/pids.events", "max"};
};

void set_signals(unsigned long mask) { raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, word_of(&mask), 0, sizeof mask); }

Word fork_process() { return raw_syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); }

const char* variable(char** envp, const char* name) {
  for (; *envp != nullptr; ++envp) {
    const char* at = *envp;
    const char* key = name;
    while (*key != 0 && *at == *key) ++at, ++key;
    if (*key == 0 && *at == '=') return at + 1;
  }
  return nullptr;
}

// A script without a first line that names its interpreter is the shell's.
Word execute(const char* path, char** argv, char** envp) {
  const Word error = raw_syscall(SYS_execve, word_of(path), word_of(argv), word_of(envp));
  if (error != -ENOEXEC) return error;
  char shell[] = "/bin/sh";
  argv[-1] = shell;
  char* word = argv[0];
  argv[0] = const_cast<char*>(path);
  const Word second = raw_syscall(SYS_execve, word_of(shell), word_of(argv - 1), word_of(envp));
  argv[0] = word;
  return second;
}

// argv[-1] is ours to overwrite: the words before the command are read already.
Word find_and_execute(char** argv, char** envp) {
  bool slash = false;
  for (const char* at = argv[0]; *at != 0; ++at) slash = slash || *at == '/';
  if (slash) return execute(argv[0], argv, envp);
  const char* path = variable(envp, "PATH");
  if (path == nullptr || *path == 0) path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  Word error = -ENOENT;
  while (true) {
    char whole[longest_path];
    unsigned long used = 0;
    for (; *path != 0 && *path != ':'; ++path)
      if (used < sizeof whole - 2) whole[used++] = *path;
    if (used == 0) whole[used++] = '.';
    whole[used++] = '/';
    const unsigned long name = length(argv[0]);
    if (used + name < sizeof whole) {
      memcpy(whole + used, argv[0], name + 1);
      const Word answer = execute(whole, argv, envp);
      if (answer != -ENOENT && answer != -ENOTDIR) error = answer;
    }
    if (*path == 0) return error;
    ++path;
  }
}

[[noreturn]] void become_command(const Launcher& launcher, char** argv, char** envp) {
  raw_syscall(SYS_setpgid, 0, 0);
  const Word self = raw_syscall(SYS_getpid);
  const int group = static_cast<int>(self);
  raw_syscall(SYS_ioctl, 0, TIOCSPGRP, word_of(&group));  // signals are still blocked; without a terminal nothing happens
  set_signals(0);
  raw_syscall(SYS_prctl, PR_SET_DUMPABLE, 1);
  const auto error = static_cast<int>(-find_and_execute(argv, envp));
  launcher.tell({.kind = entry::Record::not_started, .error = error});
  leave(error == ENOENT ? not_found_exit : not_executable_exit);
}

struct Life {
  Word command = 0;
  bool shared = false;  // others have commands here too, who are not ours to end
  bool ended = false;
  int status = 0;
  unsigned long swept = 0;
  bool cpu_spent = false;
};

// Everything that ended since the last look. False when nobody is left.
bool reap(Life& life, int options) {
  for (;;) {
    int status = 0;
    const Word pid = raw_syscall(SYS_wait4, -1, word_of(&status), options | __WALL, 0);
    if (pid == -EINTR) continue;
    if (pid <= 0) return pid == 0;
    if (pid == life.command && !life.ended) {
      life.ended = true;
      life.status = status;
    } else if (life.ended) ++life.swept;
  }
}

void end_everybody() { raw_syscall(SYS_kill, -1, SIGKILL); }

// Everybody whom this command started comes to us when their parents end.
void end_descendants(Life& life) {
  static supervisor::Found found;
  while (reap(life, WNOHANG)) {
    supervisor::signal_descendants(SIGKILL, found);
    const timespec pause = {.tv_sec = 0, .tv_nsec = sweep_pause_ns};
    raw_syscall(SYS_nanosleep, word_of(&pause), 0);
  }
}

void end_own(Life& life) {
  if (life.shared) return end_descendants(life);
  end_everybody();
}

[[noreturn]] void finish(const Launcher& launcher, Life& life, const Counters& counters) {
  end_own(life);
  while (reap(life, 0)) {
  }
  rusage used = {};
  raw_syscall(SYS_getrusage, RUSAGE_CHILDREN, word_of(&used));
  launcher.tell({.kind = entry::Record::ended,
                 .status = life.status,
                 .killed = life.swept,
                 .cpu_us = static_cast<unsigned long>((used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 + used.ru_utime.tv_usec +
                                                      used.ru_stime.tv_usec),
                 .max_rss_kb = static_cast<unsigned long>(used.ru_maxrss),
                 .blocks_out = static_cast<unsigned long>(used.ru_oublock),
                 .bytes_out = init::may_have_met_file_limit(life.status) ? init::bytes_out() : 0,
                 .oom_kills = counters.oom_kills.since(),
                 .refused_forks = counters.refused_forks.since(),
                 .cpu_spent = life.cpu_spent ? 1ul : 0ul});
  const int signal = life.status & 0x7f;
  leave(signal != 0 ? signal_base + signal : (life.status >> 8) & 0xff);
}

// With every signal blocked they wait for us, also those that pid 1 would otherwise never get.
int open_signals() {
  unsigned long every = ~0ul;
  set_signals(every);
  return static_cast<int>(raw_syscall(SYS_signalfd4, -1, word_of(&every), sizeof every, SFD_CLOEXEC | SFD_NONBLOCK));
}

void pass_signals(int signals, Word command) {
  signalfd_siginfo arrived = {};
  while (raw_syscall(SYS_read, signals, word_of(&arrived), sizeof arrived) == static_cast<Word>(sizeof arrived)) {
    if (arrived.ssi_signo == SIGCHLD) continue;
    if (command > 0) raw_syscall(SYS_kill, command, static_cast<Word>(arrived.ssi_signo));
    else if (arrived.ssi_signo == SIGTERM) leave(signal_base + SIGTERM);
  }
}

[[noreturn]] void live(const Launcher& launcher, int signals, Life life, const Counters& counters, const CpuBudget& cpu) {
  for (;;) {
    reap(life, WNOHANG);
    if (!life.ended) life.cpu_spent = cpu.spent();
    if (life.ended || life.cpu_spent) finish(launcher, life, counters);
    pollfd ends[2] = {{.fd = signals, .events = POLLIN, .revents = 0}, {.fd = launcher.fd(), .events = 0, .revents = 0}};
    const timespec look_again = {.tv_sec = 0, .tv_nsec = cpu_look_ns};
    raw_syscall(SYS_ppoll, word_of(ends), 2, cpu.watched() ? word_of(&look_again) : 0, 0, 0);
    if (ends[1].revents != 0) {  // harn is gone, or wants an end
      end_own(life);
      leave(failed_exit);
    }
    pass_signals(signals, life.command);
  }
}

[[noreturn]] void run_command(const Launcher& launcher, const char* cpu_seconds, bool shared, char** argv, char** envp) {
  const Counters counters;
  const CpuBudget cpu(cpu_seconds);
  const int signals = open_signals();
  raw_syscall(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1);
  const Word command = fork_process();
  if (command == 0) become_command(launcher, argv, envp);
  if (command < 0) {
    launcher.tell({.kind = entry::Record::not_started, .error = static_cast<int>(-command)});
    leave(failed_exit);
  }
  live(launcher, signals, {.command = command, .shared = shared}, counters, cpu);
}

[[noreturn]] void hold(const Launcher& launcher) {
  const Counters counters;
  live(launcher, open_signals(), {}, counters, CpuBudget("-"));
}

// Nobody has to listen: it ends when it is told to, or when its time is over.
[[noreturn]] void keep(const Launcher& launcher, const char* life_ms) {
  const int signals = open_signals();
  raw_syscall(SYS_close, launcher.fd());
  timespec now = {};
  raw_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, word_of(&now));
  const bool limited = !is_dash(life_ms);
  const long end_ms = now.tv_sec * 1000 + now.tv_nsec / 1'000'000 + number(life_ms);
  for (Life life;;) {
    reap(life, WNOHANG);
    raw_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, word_of(&now));
    const long left = end_ms - (now.tv_sec * 1000 + now.tv_nsec / 1'000'000);
    if (limited && left <= 0) leave(0);
    const timespec until = {.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1'000'000};
    pollfd ready = {.fd = signals, .events = POLLIN, .revents = 0};
    raw_syscall(SYS_ppoll, word_of(&ready), 1, limited ? word_of(&until) : 0, 0, 0);
    pass_signals(signals, 0);
  }
}

bool processes_limited() {
  constexpr int more_than_allowed = 24;
  int made = 0;
  for (; made < more_than_allowed; ++made) {
    const Word pid = fork_process();
    if (pid < 0) break;
    if (pid > 0) continue;
    for (;;) raw_syscall(SYS_ppoll, 0, 0, 0, 0, 0);
  }
  end_everybody();
  Life life;
  while (reap(life, 0)) {
  }
  return made < more_than_allowed;
}

bool memory_limited() {
  constexpr unsigned long more_than_allowed = 96ul << 20;
  constexpr unsigned long page = 4096;
  const Word pid = fork_process();
  if (pid == 0) {
    const Word block = raw_syscall(SYS_mmap, 0, more_than_allowed, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block < 0) leave(0);
    for (unsigned long at = 0; at < more_than_allowed; at += page) reinterpret_cast<volatile char*>(block)[at] = 1;
    leave(0);
  }
  int status = 0;
  while (pid > 0 && raw_syscall(SYS_wait4, pid, word_of(&status), __WALL, 0) == -EINTR) {
  }
  return pid > 0 && (status & 0x7f) == SIGKILL;
}

[[noreturn]] void measure_limits(const Launcher& launcher) {
  const int clock = CpuClock().seen() ? entry::counts_cpu : 0;
  const int seen = clock | (processes_limited() ? entry::limits_processes : 0) | (memory_limited() ? entry::limits_memory : 0);
  launcher.tell({.kind = entry::Record::ended, .status = seen});
  leave(0);
}

constexpr int mode_word = 1;
constexpr int report_word = 2;
constexpr int cpu_word = 3;
constexpr int first_trial = 4;
constexpr int after_trials = 8;

}  // namespace

extern "C" [[noreturn]] void harn_entry_main(long* stack) {
  const long argc = stack[0];
  auto** argv = reinterpret_cast<char**>(stack + 1);
  char** envp = argv + argc + 1;
  const char* mode = argc > report_word ? argv[mode_word] : "";
  const bool keeps = same(mode, "keep");
  const bool joins = same(mode, "join");
  const bool tries = same(mode, "run") || same(mode, "hold") || keeps;
  const bool commands = same(mode, "run") || same(mode, "exec") || joins;
  const int command = tries ? after_trials : commands ? first_trial : cpu_word;
  if (argc < command + (commands ? 1 : 0) || (!tries && !commands && !same(mode, "limits"))) leave(failed_exit);
  raw_syscall(SYS_prctl, PR_SET_DUMPABLE, 0);
  const Launcher launcher(argv[report_word]);
  entry::Record ready = {.kind = entry::Record::ready};
  if (tries) ready.doors = try_doors({argv[first_trial], argv[first_trial + 1], argv[first_trial + 2], argv[first_trial + 3]});
  launcher.tell(ready);
  launcher.await_answer();
  if (commands) run_command(launcher, argv[cpu_word], joins, argv + command, envp);
  if (keeps) keep(launcher, argv[cpu_word]);
  if (tries) hold(launcher);
  measure_limits(launcher);
}

#if defined(__x86_64__)
asm(".globl _start\n_start:\n\txor %ebp, %ebp\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall harn_entry_main\n");
#else
asm(".globl _start\n_start:\n\tmov x29, #0\n\tmov x0, sp\n\tbl harn_entry_main\n");
#endif

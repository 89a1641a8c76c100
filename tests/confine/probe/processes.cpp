// SPDX-License-Identifier: Apache-2.0
// Ways to look into a process outside or to change it. args[0] is its pid.
#include <fcntl.h>
#include <linux/kcmp.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

namespace probe {
namespace {

constexpr int idle_class = 3 << 13;  // IOPRIO_CLASS_IDLE
constexpr int io_process = 1;        // IOPRIO_WHO_PROCESS

pid_t pid_of(Args args) { return ::atoi(args[0].c_str()); }

std::string proc(Args args, const std::string& name) { return "/proc/" + args[0] + "/" + name; }

int read_proc(Args args) {
  char text[64];
  const int fd = ::open(proc(args, args[1]).c_str(), O_RDONLY);
  return fd < 0 ? errno : verdict(::read(fd, text, sizeof text));
}

// Opened only: what is written there would change the process for good.
int write_proc(Args args) { return verdict(::open(proc(args, args[1]).c_str(), O_WRONLY)); }

int link_proc(Args args) {
  char text[64];
  return verdict(::readlink(proc(args, args[1]).c_str(), text, sizeof text));
}

int read_memory(Args args) {
  const int fd = ::open(proc(args, "mem").c_str(), O_RDONLY);
  char byte = 0;
  return fd < 0 ? errno : verdict(::pread(fd, &byte, 1, static_cast<off_t>(::strtoull(args[1].c_str(), nullptr, 16))));
}

int write_memory(Args args) {
  const int fd = ::open(proc(args, "mem").c_str(), O_RDWR);
  return fd < 0 ? errno : verdict(::pwrite(fd, "s", 1, static_cast<off_t>(::strtoull(args[1].c_str(), nullptr, 16))));
}

template <long Number>
int transfer_memory(Args args) {
  char byte = 's';
  iovec here = {&byte, 1};
  iovec there = {reinterpret_cast<void*>(::strtoull(args[1].c_str(), nullptr, 16)), 1};
  return verdict(::syscall(Number, pid_of(args), &here, 1, &there, 1, 0));
}

// Detached at once: a traced process must not stay stopped.
int attach(Args args) {
  if (::ptrace(PTRACE_ATTACH, pid_of(args), nullptr, nullptr) != 0) return errno;
  ::waitpid(pid_of(args), nullptr, __WALL);
  ::ptrace(PTRACE_DETACH, pid_of(args), nullptr, nullptr);
  return 0;
}

int seize(Args args) { return verdict(::ptrace(PTRACE_SEIZE, pid_of(args), nullptr, nullptr)); }

int steal_descriptor(Args args) {
  const long held = ::syscall(SYS_pidfd_open, pid_of(args), 0);
  return held < 0 ? errno : verdict(::syscall(SYS_pidfd_getfd, held, ::atoi(args[1].c_str()), 0));
}

int compare(Args args) { return verdict(::syscall(SYS_kcmp, ::getpid(), pid_of(args), KCMP_FILE, 0, 0)); }

int limit(Args args) {
  rlimit now = {};
  if (::prlimit(pid_of(args), RLIMIT_CORE, nullptr, &now) != 0) return errno;
  return verdict(::prlimit(pid_of(args), RLIMIT_CORE, &now, nullptr));
}

int priority(Args args) { return verdict(::setpriority(PRIO_PROCESS, static_cast<id_t>(pid_of(args)), 1)); }
int user_priority(Args) { return verdict(::setpriority(PRIO_USER, ::getuid(), 0)); }
int io_priority(Args args) { return verdict(::syscall(SYS_ioprio_set, io_process, pid_of(args), idle_class)); }

int affinity(Args args) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(0, &set);
  return verdict(::sched_setaffinity(pid_of(args), sizeof set, &set));
}

int scheduler(Args args) {
  const sched_param none = {};
  return verdict(::sched_setscheduler(pid_of(args), SCHED_BATCH, &none));
}

int query_affinity(Args args) {
  cpu_set_t set;
  return verdict(::sched_getaffinity(pid_of(args), sizeof set, &set));
}

int query_session(Args args) { return verdict(::getsid(pid_of(args))); }

int move_pages(Args args) { return verdict(::syscall(SYS_move_pages, pid_of(args), 0, nullptr, nullptr, nullptr, 0)); }
int migrate_pages(Args args) {
  const unsigned long nodes = 1;
  return verdict(::syscall(SYS_migrate_pages, pid_of(args), 8, &nodes, &nodes));
}

int advise(Args args) {
  const long held = ::syscall(SYS_pidfd_open, pid_of(args), 0);
  if (held < 0) return errno;
  iovec there = {reinterpret_cast<void*>(::strtoull(args[1].c_str(), nullptr, 16) & ~0xfffull), 4096};
  return verdict(::syscall(SYS_process_madvise, held, &there, 1, MADV_COLD, 0));
}

int robust_list(Args args) {
  void* head = nullptr;
  std::size_t length = 0;
  return verdict(::syscall(SYS_get_robust_list, pid_of(args), &head, &length));
}

// Whoever started us stands right above, with everything it was started with.
pid_t whoever_started_us() {
  pid_t at = ::getppid();  // the process that runs the cases
  char text[512] = {};
  const int fd = ::open(("/proc/" + std::to_string(at) + "/stat").c_str(), O_RDONLY);
  if (fd < 0 || ::read(fd, text, sizeof text - 1) <= 0) return 1;
  const std::string line(text);
  const auto fields = line.find(") ");
  const pid_t parent = fields == std::string::npos ? 0 : ::atoi(line.c_str() + fields + 4);
  return parent == 0 ? 1 : parent;
}

int starter(Args args) {
  const std::string words[] = {std::to_string(whoever_started_us()), args[0]};
  return read_proc(words);
}

int starter_memory(Args) { return verdict(::open(("/proc/" + std::to_string(whoever_started_us()) + "/mem").c_str(), O_RDWR)); }

constexpr Probe table[] = {
    {"read_proc", read_proc},
    {"write_proc", write_proc},
    {"link_proc", link_proc},
    {"read_memory", read_memory},
    {"write_memory", write_memory},
    {"process_vm_readv", transfer_memory<SYS_process_vm_readv>},
    {"process_vm_writev", transfer_memory<SYS_process_vm_writev>},
    {"attach", attach},
    {"seize", seize},
    {"steal_descriptor", steal_descriptor},
    {"kcmp", compare},
    {"prlimit", limit},
    {"setpriority", priority},
    {"setpriority_user", user_priority},
    {"ioprio_set", io_priority},
    {"sched_setaffinity", affinity},
    {"sched_setscheduler", scheduler},
    {"sched_getaffinity", query_affinity},
    {"getsid", query_session},
    {"move_pages", move_pages},
    {"migrate_pages", migrate_pages},
    {"process_madvise", advise},
    {"get_robust_list", robust_list},
    {"read_starter", starter},
    {"open_starter_memory", starter_memory},
};

}  // namespace

Probes processes() { return table; }

}  // namespace probe

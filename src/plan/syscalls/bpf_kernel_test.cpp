// SPDX-License-Identifier: Apache-2.0
// The running kernel takes the shipped filter and answers as the interpreter says it would. A child
// makes each call first unfiltered and then filtered, so that a probe that never worked is noticed.
#include "plan/syscalls/bpf.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plan/syscalls/syscalls.h"

namespace harn::plan {
namespace {

static_assert(sizeof(BpfInstruction) == sizeof(sock_filter));

struct Probe {
  const char* what = "";
  int (*call)() = nullptr;  // 0 or errno
  int filtered = 0;         // what it must be under the filter
  int unfiltered = 0;       // what it is without; -1: depends on the kernel
};

int error_of(long result) { return result < 0 ? errno : 0; }

int make_pair_of(int type) {
  int ends[2] = {-1, -1};
  return error_of(socketpair(AF_UNIX, type, 0, ends));
}

constexpr std::uint64_t hidden_tiocsti = 0x100005412;

const Probe probes[] = {
    {"getppid", [] { return error_of(syscall(SYS_getppid)); }, 0, 0},
    {"an IPv4 socket", [] { return error_of(syscall(SYS_socket, AF_INET, SOCK_STREAM, 0)); }, EPERM, -1},
    {"netlink", [] { return error_of(syscall(SYS_socket, AF_NETLINK, SOCK_RAW, 0)); }, EAFNOSUPPORT, 0},
    {"a stream pair", [] { return make_pair_of(SOCK_STREAM | SOCK_CLOEXEC); }, 0, 0},
    {"a datagram pair", [] { return make_pair_of(SOCK_DGRAM); }, EPERM, 0},
    {"TIOCSTI behind a high bit", [] { return error_of(syscall(SYS_ioctl, -1, hidden_tiocsti, 0)); }, EPERM, EBADF},
    {"another ioctl", [] { return error_of(syscall(SYS_ioctl, -1, 0x5401, 0)); }, EBADF, EBADF},
    {"clone3", [] { return error_of(syscall(SYS_clone3, nullptr, 0)); }, ENOSYS, -1},
    {"io_uring", [] { return error_of(syscall(SYS_io_uring_setup, 0, nullptr)); }, EPERM, -1},
    {"a number from the future", [] { return error_of(syscall(0x1fff)); }, ENOSYS, ENOSYS},
    {"limits of another process", [] { return error_of(syscall(SYS_prlimit64, getppid(), 7, nullptr, nullptr)); }, EPERM, 0},
};

using Answers = std::array<int, std::size(probes)>;

int install(const BpfProgram& program) {
  std::array<sock_filter, max_bpf_instructions> copy = {};
  std::memcpy(copy.data(), program.data(), program.size() * sizeof(sock_filter));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), copy.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  return error_of(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
}

// Makes every call in a child, under the program if there is one, and reports each errno.
Answers answers_in_child(const BpfProgram* program) {
  Answers answers;
  answers.fill(-2);
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (program != nullptr && install(*program) != 0) _exit(1);
    for (std::size_t i = 0; i < answers.size(); ++i) answers[i] = probes[i].call();
    _exit(write(ends[1], answers.data(), sizeof answers) == sizeof answers ? 0 : 1);
  }
  close(ends[1]);
  EXPECT_EQ(read(ends[0], answers.data(), sizeof answers), static_cast<ssize_t>(sizeof answers));
  close(ends[0]);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return answers;
}

Result<BpfProgram> program_for_this_machine() {
  utsname name = {};
  uname(&name);
  HARN_TRY(filter, plan_syscalls({.arch = name.machine, .metadata = true, .truncation_checked = true}));
  return compile_filter(filter);
}

TEST(BpfOnThisKernel, TheFilterAnswersAsPlanned) {
  const auto program = program_for_this_machine();
  if (!program) GTEST_SKIP() << describe(program.error());
  if (prctl(PR_GET_SECCOMP) < 0) GTEST_SKIP() << "this kernel has no seccomp";
  const Answers free = answers_in_child(nullptr);
  const Answers confined = answers_in_child(&*program);
  for (std::size_t i = 0; i < confined.size(); ++i) {
    EXPECT_EQ(confined[i], probes[i].filtered) << probes[i].what;
    EXPECT_TRUE(probes[i].unfiltered < 0 || free[i] == probes[i].unfiltered) << probes[i].what << " unfiltered: " << free[i];
  }
}

#ifdef __x86_64__
// The signal that ends a child which makes one call under the program; 0 when none does.
int signal_of_child(const BpfProgram& program, void (*call)()) {
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_DUMPABLE, 0);
    if (install(program) != 0) _exit(1);
    call();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(BpfOnThisKernel, ForeignSystemCallsEndTheProcess) {
  const auto program = program_for_this_machine();
  ASSERT_TRUE(program);
  if (prctl(PR_GET_SECCOMP) < 0) GTEST_SKIP() << "this kernel has no seccomp";
  EXPECT_EQ(signal_of_child(*program, [] { syscall(SYS_getpid); }), 0);
  EXPECT_EQ(signal_of_child(*program, [] { syscall(0x40000000 | SYS_getpid); }), SIGSYS) << "x32";
  const int by_i386 = signal_of_child(*program, [] {
    long getpid_of_i386 = 20;
    asm volatile("int $0x80" : "+a"(getpid_of_i386) : : "memory", "r8", "r9", "r10", "r11");
  });
  EXPECT_TRUE(by_i386 == SIGSYS || by_i386 == SIGSEGV) << "i386: " << by_i386;  // SIGSEGV: the kernel has no such door
}
#endif

}  // namespace
}  // namespace harn::plan

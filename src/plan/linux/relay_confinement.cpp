// SPDX-License-Identifier: Apache-2.0
#include "plan/linux/relay_confinement.h"

#include "plan/syscalls/syscall_tables.h"

namespace harn::plan {
namespace {

constexpr std::uint64_t family_inet = 2;
constexpr std::uint64_t family_inet6 = 10;

SyscallRule allow(std::vector<std::string> names, std::string reason) {
  return {.names = std::move(names), .when = {}, .action = SyscallAction::allow, .error = 0, .reason = std::move(reason)};
}

SyscallFilter relay_filter(const std::string& arch) {
  SyscallFilter filter{.arch = arch};
  filter.rules = {
      allow({"accept4", "connect", "getsockname", "getsockopt", "recvfrom", "recvmsg", "sendmsg", "sendto", "setsockopt", "shutdown"},
            "serving sockets of the sandbox and dialling hosts"),
      allow({"read", "write", "pread64", "splice", "pipe2", "fcntl", "close"}, "moving bytes between descriptors it holds"),
      allow({"epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_wait"}, "waiting"),
      allow({"brk", "mmap", "mprotect", "mremap", "munmap", "madvise", "futex", "getrandom", "clock_gettime"}, "memory, numbers and time"),
      allow({"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "exit", "exit_group"}, "living and ending"),
      allow({"execve", "execveat", "arch_prctl", "set_tid_address", "set_robust_list", "rseq", "prlimit64", "readlink", "readlinkat",
             "fstat", "newfstatat", "uname", "gettid", "getpid", "tgkill"},
            "becoming the relay: no file can be opened, so nothing else can be executed"),
  };
  for (const auto family : {family_inet, family_inet6}) {
    auto rule = allow({"socket"}, "dialling hosts and asking resolvers");
    rule.when = {{.index = 0, .compare = Compare::equal, .value = family}};
    filter.rules.push_back(std::move(rule));
  }
  // Some are only called that way, or only needed, on one architecture.
  const auto architecture = find_architecture(arch);
  for (auto& rule : filter.rules)
    std::erase_if(rule.names, [&](const std::string& name) { return !architecture || !find_syscall(name, *architecture); });
  return filter;
}

}  // namespace

LinuxConfinement relay_confinement(const LinuxConfinement& sandbox) {
  LinuxConfinement out;
  if (sandbox.landlock) {
    out.landlock = LandlockPlan{.abi = sandbox.landlock->abi, .handled_fs = sandbox.landlock->handled_fs};
    out.landlock->scoped = sandbox.landlock->scoped;
  }
  if (sandbox.syscalls) out.syscalls = relay_filter(sandbox.syscalls->arch);
  return out;
}

}  // namespace harn::plan

// SPDX-License-Identifier: Apache-2.0
#include <sys/syscall.h>
#include <unistd.h>

#include "prove/mechanisms.h"
#include "sys/tries.h"

namespace harn::prove {
namespace {

// Signal 0 to ourselves always works, so what refuses it is the filter.
run::Trial signal_caller() {
  return {.what = "make a call the filter denies",
          .calls = {{.number = SYS_kill, .arguments = {static_cast<std::uintptr_t>(::getpid()), 0}}}};
}

SyscallFilter one_rule(const LinuxFacts& facts, SyscallRule rule) {
  return {.arch = facts.arch, .otherwise = SyscallAction::allow, .rules = {std::move(rule)}};
}

constexpr auto seccomp_remedy = "use a kernel with CONFIG_SECCOMP_FILTER; in a container, allow the seccomp system call";

}  // namespace

Finding prove_seccomp(const ProvingGround& ground, LinuxFacts& facts) {
  Finding finding{.mechanism = "seccomp"};
  const auto filter = one_rule(facts, {.names = {"kill"}, .action = SyscallAction::errno_, .error = 1});
  auto trials = provable({signal_caller()});
  const bool tried = !trials.empty();
  const auto status = try_layers(ground.bare_plan({.syscalls = filter}), std::move(trials));
  facts.seccomp = finding.works = status.has_value();
  if (status) {
    finding.how = tried ? "a child's filter was accepted and refused the call it denies" : "a child's filter was accepted";
    return finding;
  }
  finding.why_not = status.error().message;
  finding.remedy = seccomp_remedy;
  return finding;
}

Finding prove_seccomp_notify(const ProvingGround& ground, LinuxFacts& facts) {
  Finding finding{.mechanism = "seccomp_notify"};
  if (!facts.seccomp || facts.landlock_abi < 1) {
    finding.why_not = facts.seccomp ? "it needs Landlock" : "seccomp itself does not work";
    return finding;
  }
  auto alone = facts;
  alone.user_namespaces = alone.pid_namespaces = alone.network_namespaces = false;
  alone.seccomp_notify = true;
  const auto status = ground.run_supervised(alone);
  facts.seccomp_notify = finding.works = status.has_value();
  facts.pidfd_getfd = finding.works && sys::can_copy_descriptors();
  if (finding.works) {
    finding.how = "a supervisor opened a file for a command, and refused it a place kept read-only inside its workspace";
    if (!facts.pidfd_getfd) finding.how += "; it cannot copy descriptors (pidfd_getfd), so Unix sockets stay limited to connected pairs";
    return finding;
  }
  finding.why_not = status.error().message;
  finding.remedy = "use Linux 5.14 or later; one process tree can have only one listener, and kernel.yama.ptrace_scope must be below 2";
  return finding;
}

}  // namespace harn::prove

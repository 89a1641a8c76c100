// SPDX-License-Identifier: Apache-2.0
// The one place where a process begins.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "run/child/replay.h"
#include "run/init/protocol.h"
#include "run/prepared_parts.h"
#include "run/spawn_failure.h"
#include "sys/files.h"

namespace harn::run {
int highest_capability() {
  // PR_CAPBSET_READ would tell, at the price of forty calls; unknown ones are refused with EINVAL,
  // which the child takes as the end of the list.
  return 63;
}

void leave_to_orphans(std::unique_ptr<PreparedParts> parts) {
  parts->keep.close_fds();
  std::ignore = parts.release();
}

PreparedChild::PreparedChild(std::unique_ptr<PreparedParts> parts) : parts_(std::move(parts)) {}
PreparedChild::PreparedChild(PreparedChild&&) noexcept = default;
PreparedChild& PreparedChild::operator=(PreparedChild&&) noexcept = default;
PreparedChild::~PreparedChild() = default;
const Proofs& PreparedChild::proofs() const { return parts_->proofs; }
const std::vector<std::string>& PreparedChild::outer_steps() const { return parts_->outer.labels(); }
const std::vector<std::string>& PreparedChild::inner_steps() const { return parts_->inner.labels(); }

Result<Process> spawn(PreparedChild prepared) {
  auto& parts = *prepared.parts_;
  const bool nested = parts.outer.script().count != 0;
  int pidfd = -1;
  child::Word pid = 0;
  {
    const SignalsBlocked blocked;
    pid = child::start_sharing(static_cast<child::Word>(parts.clone_flags) | CLONE_PIDFD | SIGCHLD, parts.outer_stack_top, &pidfd,
                               nested ? child::replay_outer : child::replay_inner, &parts.launch);
  }
  if (pid < 0) {
    auto error =
        sys::os_failure("clone", parts.clone_flags != 0 ? "with new namespaces" : "a process", static_cast<int>(-pid), Stage::spawn);
    error.hint = "'harn doctor' shows what this host can do";
    return fail(std::move(error));
  }
  Process process;
  process.pid_ = static_cast<pid_t>(pid);
  process.pidfd_ = sys::UniqueFd(pidfd);
  process.wrapper_status_ = std::move(parts.wrapper_status);
  process.refusals_ = std::move(parts.refusals);
  if (nested) {
    process.holds_everybody_ = parts.clone_flags != 0;
    process.status_ = std::move(parts.status);
    process.control_ = std::move(parts.control);
  }
  if (parts.launch.report.failed_step < 0) {
    if (nested && parts.launch.report.init_attempted == 0) leave_to_orphans(std::move(prepared.parts_));
    return process;
  }
  reap_child(process.pid_);
  process.forget();
  return fail(explain_failure(parts));
}

Process::~Process() {
  if (pid_ < 0) return;
  // A supervisor ends everybody before itself when its lifeline is cut.
  if (has_init() && !holds_everybody()) control_ = {};
  else kill();
  reap_child(pid_);
}

void Process::signal(int number, bool everybody) const {
  if (pid_ < 0) return;
  if (!has_init()) {
    if (everybody) ::kill(-pid_, number);
    ::syscall(SYS_pidfd_send_signal, pidfd_.get(), number, nullptr, 0);
    return;
  }
  const auto order = static_cast<unsigned char>(static_cast<unsigned>(number) | (everybody ? init::to_everybody : 0u));
  while (::write(control_.get(), &order, 1) < 0 && errno == EINTR) {
  }
}

void Process::measure() const {
  if (pid_ < 0 || !has_init()) return;
  while (::write(control_.get(), &init::measure, 1) < 0 && errno == EINTR) {
  }
}

void Process::kill() const {
  if (pid_ < 0) return;
  // Its own sudden death would only make orphans of the others.
  if (has_init() && !holds_everybody()) return signal(SIGKILL, /*everybody=*/true);
  kill_holder();
}

void Process::kill_holder() const {
  if (pid_ < 0) return;
  if (!has_init()) ::kill(-pid_, SIGKILL);
  ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
}

}  // namespace harn::run

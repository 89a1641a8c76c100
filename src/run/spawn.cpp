// SPDX-License-Identifier: Apache-2.0
// The one place where a process begins. Signals stay blocked until the child no longer shares our
// memory: a handler running there would run in two processes at once.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <utility>

#include <fmt/format.h>

#include "run/child/replay.h"
#include "run/init/protocol.h"
#include "run/prepared_parts.h"
#include "sys/files.h"

namespace harn::run {
namespace {

class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_ = {};
};

std::string reason(int error) {
  auto text = sys::os_failure("", "", error).message;
  return text.substr(text.rfind(": ") + 2);
}

// The first step that failed, for a person.
Error explain(const PreparedParts& parts) {
  const auto& report = parts.launch.report;
  const auto& script = report.inner != 0 ? parts.inner : parts.outer;
  const auto step = static_cast<std::size_t>(report.failed_step);
  const auto op = script.steps().at(step).op;
  const auto& label = script.labels().at(step);
  Error error{.code = ErrorCode::os, .stage = Stage::spawn, .os_error = report.error};
  if (op == child::Op::become_command) {
    error.code = ErrorCode::invalid_command;
    const std::string_view command = parts.argv.front();
    const bool missing = report.error == ENOENT;
    error.message = fmt::format("'{}' {}", command, missing ? "was not found" : "cannot be executed: " + reason(report.error));
    error.hint =
        missing ? "check its name, and that the policy opens the directory it is in" : "check that it is a program, and its permissions";
    return error;
  }
  if (report.error == 0) {
    error.code = ErrorCode::refused;
    error.message = fmt::format("the boundary does not hold: could not {} (step {})", label, step + 1);
    error.hint = "the command did not run; please report this with the output of 'harn doctor --json'";
    return error;
  }
  error.message = fmt::format("could not {}: {} (step {} of the {})", label, reason(report.error), step + 1,
                              report.inner != 0        ? "command's process"
                              : parts.clone_flags != 0 ? "view"
                                                       : "supervisor");
  error.hint = op == child::Op::become_init ? "the command was ended as soon as it had started" : "the command did not run";
  error.hint += "; 'harn doctor' shows what this host can do";
  return error;
}

void reap(pid_t pid) {
  while (::waitpid(pid, nullptr, __WALL) < 0 && errno == EINTR) {
  }
}

}  // namespace

int highest_capability() {
  // PR_CAPBSET_READ would tell, at the price of forty calls; unknown ones are refused with EINVAL,
  // which the child takes as the end of the list.
  return 63;
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
  if (parts.launch.report.failed_step < 0) return process;
  reap(process.pid_);
  process.forget();
  return fail(explain(parts));
}

Process::~Process() {
  if (pid_ < 0) return;
  // A supervisor ends everybody before itself when its lifeline is cut.
  if (has_init() && !holds_everybody()) control_ = {};
  else kill();
  reap(pid_);
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

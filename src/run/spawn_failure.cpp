// SPDX-License-Identifier: Apache-2.0
#include "run/spawn_failure.h"

#include <errno.h>
#include <sys/wait.h>

#include <fmt/format.h>

#include "sys/files.h"

namespace harn::run {

SignalsBlocked::SignalsBlocked() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before_);
}
SignalsBlocked::~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void reap_child(pid_t pid) {
  while (::waitpid(pid, nullptr, __WALL) < 0 && errno == EINTR) {
  }
}

std::string reason_of(int error) {
  auto text = sys::os_failure("", "", error).message;
  return text.substr(text.rfind(": ") + 2);
}

Error cannot_start(std::string_view command, int error) {
  const bool missing = error == ENOENT;
  return {.code = ErrorCode::invalid_command,
          .stage = Stage::spawn,
          .os_error = error,
          .message = fmt::format("'{}' {}", command, missing ? "was not found" : "cannot be executed: " + reason_of(error)),
          .hint = missing ? "check its name, and that the policy opens the directory it is in"
                          : "check that it is a program, and its permissions"};
}

Error explain_failure(const PreparedParts& parts) {
  const auto& report = parts.launch.report;
  const auto& script = report.inner != 0 ? parts.inner : parts.outer;
  const auto step = static_cast<std::size_t>(report.failed_step);
  const auto op = script.steps().at(step).op;
  const auto& label = script.labels().at(step);
  if (op == child::Op::become_command) return cannot_start(parts.argv.front(), report.error);
  Error error{.code = ErrorCode::os, .stage = Stage::spawn, .os_error = report.error};
  if (report.error == 0) {
    error.code = ErrorCode::refused;
    error.message = fmt::format("the boundary does not hold: could not {} (step {})", label, step + 1);
    error.hint = "the command did not run; please report this with the output of 'harn doctor --json'";
    return error;
  }
  error.message = fmt::format("could not {}: {} (step {} of the {})", label, reason_of(report.error), step + 1,
                              report.inner != 0        ? "command's process"
                              : parts.clone_flags != 0 ? "view"
                                                       : "supervisor");
  error.hint = op == child::Op::become_init ? "the command was ended as soon as it had started" : "the command did not run";
  error.hint += "; 'harn doctor' shows what this host can do";
  return error;
}

}  // namespace harn::run

// SPDX-License-Identifier: Apache-2.0
#include "run/unix/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "base/text.h"
#include "run/unix/open_descriptors.h"
#include "run/unix/own_signals.h"
#include "sys/descriptors.h"
#include "sys/files.h"

namespace harn::run {
namespace {

struct Limit {
  int resource = 0;
  rlimit value = {};
};

// Everything the child uses, in memory that is not touched any more.
struct Frozen {
  std::vector<const char*> candidates = {};
  std::vector<char*> argv = {};
  std::vector<char*> shell_argv = {};
  std::vector<char*> envp = {};
  std::vector<std::string> texts = {};
  std::vector<Limit> limits = {};
  const char* cwd = nullptr;
  std::array<int, 3> stdio = {};
  int report_fd = -1;
  int terminal_fd = -1;
  sigset_t signals = {};  // as the caller had them
};

enum Stage_ : std::int32_t {
  in_group = -1,
  in_stdio = -2,
  in_cwd = -3,
  in_limits = -4,
  in_exec = -5,
  in_descriptors = -6
};

Result<std::vector<Limit>> limits_of(const LimitPlan& plan) {
  static constexpr std::pair<std::string_view, int> known[] = {
      {"cpu", RLIMIT_CPU}, {"fsize", RLIMIT_FSIZE}, {"nofile", RLIMIT_NOFILE}, {"core", RLIMIT_CORE}, {"nproc", RLIMIT_NPROC}};
  std::vector<Limit> out;
  for (const auto& limit : plan.rlimits) {
    const auto row = std::ranges::find(known, limit.name, [](const auto& entry) { return entry.first; });
    if (row == std::end(known))
      return fail(Error{.code = ErrorCode::not_supported,
                        .stage = Stage::prepare,
                        .message = fmt::format("the plan sets the unknown limit {}", base::quoted(limit.name)),
                        .hint = "make the plan again with this version of harn"});
    rlimit now = {};
    if (::getrlimit(static_cast<decltype(RLIMIT_CPU)>(row->second), &now) != 0)
      return fail(sys::os_failure("getrlimit", limit.name, errno, Stage::prepare));
    const auto hard = std::min<rlim_t>(static_cast<rlim_t>(limit.hard), now.rlim_max);
    out.push_back({row->second, {.rlim_cur = std::min<rlim_t>(static_cast<rlim_t>(limit.soft), hard), .rlim_max = hard}});
  }
  return out;
}

Result<Frozen> freeze(const SpawnRequest& request, int report_fd) {
  Frozen out;
  const auto& argv = request.confining.argv();
  const auto places = places_of_program(argv.front(), request.plan.env);
  out.texts.reserve(argv.size() + places.size() + request.plan.env.variables.size() + 2);
  const auto keep = [&](std::string text) { return out.texts.emplace_back(std::move(text)).data(); };
  for (const auto& word : argv) out.argv.push_back(keep(word));
  out.argv.push_back(nullptr);
  // A file without a first line that names its interpreter is the shell's, as everywhere.
  out.shell_argv = {keep("/bin/sh"), nullptr};
  out.shell_argv.insert(out.shell_argv.end(), out.argv.begin() + 1, out.argv.end());
  for (const auto& [name, value] : request.plan.env.variables) out.envp.push_back(keep(name + "=" + value));
  out.envp.push_back(nullptr);
  for (const auto& place : places) out.candidates.push_back(keep(place));
  HARN_TRY(limits, limits_of(request.plan.limits));
  out.limits = std::move(limits);
  out.cwd = keep(request.plan.cwd.text());
  out.stdio = request.stdio;
  out.report_fd = report_fd;
  out.terminal_fd = request.terminal_fd;
  return out;
}

// ---- in the child: no allocation, no locks -----------------------------------------------------------

[[noreturn]] void give_up(int report_fd, ChildFailure failed) {
  while (::write(report_fd, &failed, sizeof failed) < 0 && errno == EINTR) {
  }
  ::_exit(125);
}

void own_group(const Frozen& frozen) {
  if (frozen.terminal_fd < 0) {
    if (::setsid() < 0) give_up(frozen.report_fd, {in_group, errno});
    return;
  }
  if (::setpgid(0, 0) != 0) give_up(frozen.report_fd, {in_group, errno});
  // The output of a background group may stop it; asking for the foreground would.
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTTOU);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  ::tcsetpgrp(frozen.terminal_fd, ::getpid());
}

// Standard streams first go above their own numbers, because one may stand where another belongs.
void place_stdio(Frozen& frozen) {
  int above[3] = {-1, -1, -1};
  for (std::size_t i = 0; i < 3; ++i) {
    above[i] = ::fcntl(frozen.stdio[i], F_DUPFD_CLOEXEC, 3);
    if (above[i] < 0) give_up(frozen.report_fd, {in_stdio, errno});
  }
  if (frozen.report_fd < 3) give_up(frozen.report_fd, {in_stdio, EBADF});
  for (int i = 0; i < 3; ++i)
    if (::dup2(above[i], i) < 0) give_up(frozen.report_fd, {in_stdio, errno});
}

void default_signals(const Frozen& frozen) {
  struct sigaction normal = {};
  normal.sa_handler = SIG_DFL;
  for (const int number : OwnSignals::collected) ::sigaction(number, &normal, nullptr);
  ::sigaction(SIGPIPE, &normal, nullptr);
  ::sigprocmask(SIG_SETMASK, &frozen.signals, nullptr);
}

[[noreturn]] void become_command(const Frozen& frozen) {
  int error = ENOENT;
  for (const char* place : frozen.candidates) {
    ::execve(place, frozen.argv.data(), frozen.envp.data());
    if (errno == ENOEXEC) {
      auto* words = const_cast<char**>(frozen.shell_argv.data());
      words[1] = const_cast<char*>(place);
      ::execve(words[0], words, frozen.envp.data());
      errno = ENOEXEC;
    }
    // The first that exists is the one that is meant, as for a shell.
    if (errno != ENOENT && errno != ENOTDIR && (error == ENOENT || errno != EACCES)) error = errno;
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) break;
  }
  give_up(frozen.report_fd, {in_exec, error});
}

[[noreturn]] void replay(Frozen& frozen, const Confining& confining) {
  own_group(frozen);
  place_stdio(frozen);
  if (!close_at_exec(3)) give_up(frozen.report_fd, {in_descriptors, errno == 0 ? EBADF : errno});
  if (::chdir(frozen.cwd) != 0) give_up(frozen.report_fd, {in_cwd, errno});
  for (const auto& limit : frozen.limits)
    if (::setrlimit(static_cast<decltype(RLIMIT_CPU)>(limit.resource), &limit.value) != 0) give_up(frozen.report_fd, {in_limits, errno});
  default_signals(frozen);
  ChildFailure failed;
  if (!confining.apply(failed)) give_up(frozen.report_fd, failed);
  // From here on an end without a word is an exec that worked: before, it would be a child that was killed.
  const ChildFailure confined{};
  if (::write(frozen.report_fd, &confined, sizeof confined) != static_cast<ssize_t>(sizeof confined)) ::_exit(125);
  become_command(frozen);
}

// ---- in the parent -------------------------------------------------------------------------------------

Error explained(const ChildFailure& failed, const SpawnRequest& request) {
  if (failed.step == in_exec) return cannot_start(request.confining.argv().front(), failed.error);
  Error error{.code = ErrorCode::os, .stage = Stage::spawn, .os_error = failed.error};
  const auto what = failed.step == in_group         ? std::string("make a process group")
                    : failed.step == in_stdio       ? std::string("place the standard streams")
                    : failed.step == in_cwd         ? fmt::format("change to {}", base::quoted(request.plan.cwd.text()))
                    : failed.step == in_limits      ? std::string("set the limits")
                    : failed.step == in_descriptors ? std::string("find out which descriptors are open")
                                                    : request.confining.describe(failed);
  if (failed.error == 0) {
    error.code = ErrorCode::refused;
    error.message = fmt::format("the boundary does not hold: could {}", what);
    error.hint = "the command did not run; please report this with the output of 'harn doctor --json'";
    return error;
  }
  error.message = fmt::format("could not {}: {}", what, std::generic_category().message(failed.error));
  error.hint = "the command did not run; 'harn doctor' shows what this host can do";
  return error;
}

int reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// Nothing when the pipe was closed.
std::optional<ChildFailure> next_report(int fd) {
  ChildFailure report;
  ssize_t got = 0;
  while ((got = ::read(fd, &report, sizeof report)) < 0 && errno == EINTR) {
  }
  if (got != static_cast<ssize_t>(sizeof report)) return std::nullopt;
  return report;
}

bool is_confined(const ChildFailure& report) { return report.step == 0; }

}  // namespace

std::vector<std::string> places_of_program(const std::string& word, const EnvPlan& env) {
  if (word.find('/') != std::string::npos) return {word};
  const auto found = env.variables.find("PATH");
  const std::string path = found == env.variables.end() ? "/usr/local/bin:/usr/bin:/bin" : found->second;
  std::vector<std::string> out;
  for (const auto entry : base::split(path, ':')) out.push_back((entry.empty() ? "." : std::string(entry)) + "/" + word);
  return out;
}

Error cannot_start(std::string_view command, int error) {
  const bool missing = error == ENOENT;
  return {.code = ErrorCode::invalid_command,
          .stage = Stage::spawn,
          .os_error = error,
          .message = fmt::format("'{}' {}", command,
                                 missing ? std::string("was not found") : "cannot be executed: " + std::generic_category().message(error)),
          .hint = missing ? "check its name, and that the policy opens the directory it is in"
                          : "check that it is a program, and its permissions"};
}

Result<pid_t> spawn(const SpawnRequest& request) {
  HARN_TRY(pipe, sys::open_pipe());
  HARN_TRY(frozen, freeze(request, pipe.write.get()));
  // A handler of ours that ran in the child would write into our pipe.
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &frozen.signals);
  const pid_t pid = ::fork();
  if (pid == 0) replay(frozen, request.confining);
  const int error = errno;
  ::sigprocmask(SIG_SETMASK, &frozen.signals, nullptr);
  if (pid < 0) return fail(sys::os_failure("fork", request.plan.argv.front(), error, Stage::spawn));
  pipe.write = {};
  const auto first = next_report(pipe.read.get());
  if (first && is_confined(*first)) {
    const auto second = next_report(pipe.read.get());
    if (!second) return pid;  // exec closed the pipe
    reap(pid);
    return fail(explained(*second, request));
  }
  const int status = reap(pid);
  if (first) return fail(explained(*first, request));
  return fail(Error{.code = ErrorCode::os,
                    .stage = Stage::spawn,
                    .message = fmt::format("the child was ended{} before the command could start",
                                           WIFSIGNALED(status) ? fmt::format(" by signal {}", WTERMSIG(status)) : std::string()),
                    .hint = "the command did not run; 'harn doctor' shows what this host can do"});
}

}  // namespace harn::run

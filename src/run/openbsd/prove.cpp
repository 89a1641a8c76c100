// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "harn/sandbox.h"
#include "run/unix/prove_system.h"
#include "sys/files.h"
#include "sys/own_directory.h"

namespace harn::run {
namespace {

// An entry survives exec only with execpromises, so that one refusal proves both.
Plan reading_plan(const Ground& ground) {
  Plan plan;
  plan.backend = Backend::openbsd;
  plan.argv = reading_words(ground);
  plan.cwd = ground.inside;
  PledgeUnveil confinement{
      .promises = {"stdio", "rpath", "proc", "exec"},
      .exec_promises = {"error", "stdio", "rpath", "wpath", "cpath", "fattr", "flock", "getpw", "tty", "proc", "exec", "prot_exec"}};
  for (const auto* system : {"/bin", "/lib", "/lib64", "/usr"})
    if (sys::target_type_of(AbsPath::of(system)) == sys::FileType::directory) confinement.unveils.push_back({AbsPath::of(system), "rx"});
  confinement.unveils.push_back({ground.inside, "r"});
  plan.confinement = std::move(confinement);
  return plan;
}

Finding prove_unveil(const Ground& ground) {
  const auto ended = run_plan(reading_plan(ground), {.streams = {Stream::empty, Stream::capture, Stream::capture}, .receipt = false});
  return reading_finding("unveil", ended, "a program that was started read what was unveiled, and found nothing where nothing was");
}

[[noreturn]] void break_a_promise() {
  // Whatever happens to a process that aborts by itself is not what is tried here.
  if (::pledge("stdio", nullptr) != 0) ::_exit(2);
  ::socket(AF_INET, SOCK_STREAM, 0);
  ::_exit(3);
}

Finding prove_pledge() {
  Finding out{.mechanism = "pledge"};
  const pid_t pid = ::fork();
  if (pid == 0) break_a_promise();
  int status = 0;
  while (pid > 0 && ::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (pid < 0) out.why_not = sys::os_failure("fork", "a child", errno).message;
  else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) out.how = "a child that had not promised a socket was ended for making one";
  else if (WIFEXITED(status) && WEXITSTATUS(status) == 2) out.why_not = "pledge refuses a list of promises";
  else out.why_not = "a child that had not promised a socket made one";
  out.works = out.why_not.empty();
  return out;
}

}  // namespace

Result<std::vector<Finding>> prove_system(HostFacts& facts) {
  HARN_TRY(place, sys::OwnDirectory::make(facts.temp, "harn-prove-"));
  const Ground ground{.inside = place.path().join("inside"), .outside = place.path().join("outside")};
  HARN_OK(sys::replace_file(ground.inside.join("known"), "known\n"));
  HARN_OK(sys::replace_file(ground.outside.join("secret"), "secret\n"));
  std::vector<Finding> findings = {prove_unveil(ground), prove_pledge()};
  for (const auto& finding : findings) facts.tools[finding.mechanism] = Tool{.works = finding.works, .why_not = finding.why_not};
  return findings;
}

}  // namespace harn::run

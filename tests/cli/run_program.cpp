// SPDX-License-Identifier: Apache-2.0
#include "cli/run_program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

namespace harn::test {
namespace {

std::string read_back(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int open_output(const std::string& path) { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600); }

}  // namespace

ProgramRun run_program(const ProgramCall& call) {
  std::vector<char*> argv;
  for (const auto& word : call.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  std::vector<std::string> pairs;
  for (const auto& [name, value] : call.environment) pairs.push_back(name + "=" + value);
  std::vector<char*> environment;
  for (auto& pair : pairs) environment.push_back(pair.data());
  environment.push_back(nullptr);

  // Files instead of pipes: however much a program says, nobody waits for a reader.
  const auto out_path = call.scratch.join("stdout").text();
  const auto err_path = call.scratch.join("stderr").text();
  const int out = open_output(out_path);
  const int err = open_output(err_path);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::chdir(call.cwd.text().c_str()) != 0 || ::dup2(out, STDOUT_FILENO) < 0 || ::dup2(err, STDERR_FILENO) < 0) ::_exit(99);
    ::execve(argv[0], argv.data(), environment.data());
    ::_exit(98);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(out);
  ::close(err);
  return {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .out = read_back(out_path),
          .err = read_back(err_path)};
}

}  // namespace harn::test

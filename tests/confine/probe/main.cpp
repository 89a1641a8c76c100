// SPDX-License-Identifier: Apache-2.0
// harn_probe --cases FILE      each line "id TAB probe TAB arg…", each in a process of its own
// harn_probe --one PROBE ARG…  in this process; the exit code is the errno
// harn_probe --victim KEY=…    the process outside
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <vector>

#include "probe.h"

namespace probe {
namespace {

constexpr unsigned longest_seconds = 20;

std::string word_for(int status) {
  if (WIFSIGNALED(status)) return std::string("SIG") + sigabbrev_np(WTERMSIG(status));
  const int error = WEXITSTATUS(status);
  if (error == 0) return "ok";
  const char* name = strerrorname_np(error);
  return name == nullptr ? "errno " + std::to_string(error) : name;
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  for (const char c : line)
    if (c == '\t') fields.emplace_back();
    else fields.back() += c;
  return fields;
}

void run_case(const std::vector<std::string>& fields) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(longest_seconds);
    ::_exit(run_named(fields[1], Args(fields).subspan(2)));
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return;
  std::string line = fields[0] + "\t" + word_for(status) + "\n";
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t wrote = ::write(STDOUT_FILENO, line.data() + done, line.size() - done);
    if (wrote <= 0) return;
    done += static_cast<std::size_t>(wrote);
  }
}

int run_cases(const std::string& file) {
  std::ifstream lines(file);
  if (!lines) return 2;
  for (std::string line; std::getline(lines, line);) run_case(fields_of(line));
  return 0;
}

}  // namespace

int run_named(std::string_view name, Args args) {
  for (const auto& family : {reading(), writing(), metadata(), network(), unix_sockets(), processes(), signals(), privileges(), mounts(),
                             kernel(), descriptors(), terminal(), races(), storms(), shared_memory(), surroundings(), lawful()})
    for (const auto& row : family)
      if (row.name == name) return row.run(args);
  ::dprintf(STDERR_FILENO, "harn_probe: there is no probe '%.*s'\n", static_cast<int>(name.size()), name.data());
  return EDOM;
}

}  // namespace probe

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() >= 2 && words[0] == "--cases") return probe::run_cases(words[1]);
  if (words.size() >= 2 && words[0] == "--one") return probe::run_named(words[1], probe::Args(words).subspan(2));
  if (!words.empty() && words[0] == "--victim") return probe::be_victim(probe::Args(words).subspan(1));
  ::dprintf(STDERR_FILENO, "usage: harn_probe --cases FILE | --one PROBE ARG… | --victim KEY=VALUE…\n");
  return 2;
}

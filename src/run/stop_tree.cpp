// SPDX-License-Identifier: Apache-2.0
#include "run/stop_tree.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "sys/files.h"

namespace harn::run {

namespace {

constexpr std::size_t longest_list = 4u << 20;
constexpr std::chrono::seconds patience{5};

// Stopped first, top down: what does not run makes no new processes.
void signal_below(pid_t pid, int number) {
  for (const auto child : children_of(pid)) {
    ::kill(child, number);
    signal_below(child, number);
  }
}

}  // namespace

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> out;
  const auto tasks = sys::list_directory(AbsPath::of(fmt::format("/proc/{}/task", pid)), 1u << 16);
  if (!tasks) return out;
  for (const auto& task : *tasks) {
    const auto text = sys::read_file(AbsPath::of(fmt::format("/proc/{}/task/{}/children", pid, task)), longest_list);
    if (!text) continue;
    for (const auto word : base::split(*text, ' ')) {
      pid_t child = 0;
      if (std::from_chars(word.data(), word.data() + word.size(), child).ec == std::errc{}) out.push_back(child);
    }
  }
  return out;
}

std::uint64_t end_descendants() {
  std::uint64_t ended = 0;
  const auto until = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < until) {
    signal_below(::getpid(), SIGSTOP);
    signal_below(::getpid(), SIGKILL);
    const pid_t pid = ::waitpid(-1, nullptr, __WALL);
    if (pid > 0) ++ended;
    else if (errno == ECHILD) break;
  }
  return ended;
}

}  // namespace harn::run

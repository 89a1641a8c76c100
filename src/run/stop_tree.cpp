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
constexpr int orphans_at_once = 512;
constexpr useconds_t pause_us = 100;  // for the killed to get to their end

// Newest first: of processes that flee by forking and ending, the newest is the one that lives.
void kill_below(pid_t top) {
  std::vector<pid_t> waiting = children_of(top);
  while (!waiting.empty()) {
    const pid_t pid = waiting.back();
    waiting.pop_back();
    ::kill(pid, SIGKILL);
    const auto below = children_of(pid);
    waiting.insert(waiting.end(), below.begin(), below.end());
  }
}

// False when there are no children left at all.
bool reap_ended(std::uint64_t& killed) {
  int status = 0;
  for (;;) {
    const pid_t pid = ::waitpid(-1, &status, __WALL | WNOHANG);
    if (pid == 0) return true;
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) return false;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ++killed;  // the others had ended by themselves
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

bool reap_orphans(pid_t command, const std::function<void(const rusage&)>& used) {
  for (int i = 0; i < orphans_at_once; ++i) {
    siginfo_t seen = {};
    // Only looked at: how the command ended is for somebody else to hear.
    if (::waitid(P_ALL, 0, &seen, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0 || seen.si_pid == 0 || seen.si_pid == command) return false;
    rusage usage = {};
    if (::wait4(seen.si_pid, nullptr, __WALL | WNOHANG, &usage) == seen.si_pid) used(usage);
  }
  return true;
}

// Every pass looks anew: what is killed leaves its children to us. Somebody who forks faster than one
// pass is met by one of the many that follow.
EndedTree end_descendants(std::chrono::milliseconds patience) {
  EndedTree out;
  const auto until = std::chrono::steady_clock::now() + patience;
  while (reap_ended(out.killed)) {
    if (std::chrono::steady_clock::now() >= until) {
      out.left = children_of(::getpid());
      break;
    }
    kill_below(::getpid());
    ::usleep(pause_us);
  }
  return out;
}

}  // namespace harn::run

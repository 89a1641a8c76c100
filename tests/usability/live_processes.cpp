// SPDX-License-Identifier: Apache-2.0
#include "usability/live_processes.h"

#include <unistd.h>

#include <charconv>
#include <chrono>
#include <filesystem>

#include "usability/person.h"

namespace harn::test {
namespace {

constexpr std::chrono::seconds patience{20};
constexpr useconds_t pause_us = 2000;

}  // namespace

std::vector<pid_t> processes_named(std::string_view mark) {
  std::vector<pid_t> out;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
    const auto name = entry.path().filename().string();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size() || pid == ::getpid()) continue;
    const bool named = read_whole(entry.path() / "cmdline").find(mark) != std::string::npos ||
                       read_whole(entry.path() / "environ").find(mark) != std::string::npos;
    if (named) out.push_back(pid);
  }
  return out;
}

bool has_ended(pid_t pid) {
  const auto stat = read_whole("/proc/" + std::to_string(pid) + "/stat");
  const auto state = stat.rfind(')');
  return state == std::string::npos || stat.substr(state, 3) == ") Z";
}

bool await(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    ::usleep(pause_us);
  }
  return true;
}

}  // namespace harn::test

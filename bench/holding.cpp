// SPDX-License-Identifier: Apache-2.0
// What a sandbox that only waits keeps in memory: private pages of every process it needs, and its
// share of the program that holds them.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "confined.h"

namespace harn::bench {
namespace {

// Private_Clean and Private_Dirty, in KiB.
double private_memory(const std::string& pid) {
  std::ifstream in("/proc/" + pid + "/smaps_rollup");
  double sum = 0;
  for (std::string name, rest; in >> name && std::getline(in, rest);)
    if (name == "Private_Clean:" || name == "Private_Dirty:") sum += std::stod(rest);
  return sum;
}

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line, '\0');
  return line;
}

struct Found {
  int count = 0;
  double memory = 0;
};

// Processes with this first word on their command line.
Found find(const std::string& word) {
  Found found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto pid = entry.path().filename().string();
    if (pid.find_first_not_of("0123456789") != std::string::npos || first_line(entry.path() / "cmdline") != word) continue;
    ++found.count;
    found.memory += private_memory(pid);
  }
  return found;
}

void end_all(const std::string& word) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto pid = entry.path().filename().string();
    if (pid.find_first_not_of("0123456789") == std::string::npos && first_line(entry.path() / "cmdline") == word)
      ::kill(std::stoi(pid), SIGKILL);
  }
}

}  // namespace

void bench_holding(const std::string& harn, const std::string& self, const AbsPath& workspace, int count) {
  const auto program = (std::filesystem::path(self).parent_path() / "harn_hold").string();
  const auto held = workspace.join("held").text();
  std::filesystem::copy_file(program, held, std::filesystem::copy_options::overwrite_existing);
  auto plan = plan_here(workspace, {held}, Layers::all);
  const double before = private_memory("self");
  std::vector<std::jthread> holders;
  for (int i = 0; i < count; ++i)
    holders.emplace_back([&plan] { (void)run_plan(plan, {.streams = {Stream::empty, Stream::empty, Stream::empty}, .receipt = false}); });
  Found commands;
  for (int tries = 0; tries < 600 && commands.count < count; ++tries) {
    ::usleep(100000);
    commands = find(held);
  }
  const auto inits = find("harn-init");
  const double share = (private_memory("self") - before) / count;
  fmt::print("\nHolding {} sandboxes (KiB of private memory each)\n", commands.count);
  fmt::print("command {:.0f}, init {:.0f}, share of the program that holds them {:.0f}: {:.0f} in all (target <= 200)\n",
             commands.memory / commands.count, inits.memory / std::max(1, inits.count), share,
             (commands.memory + inits.memory) / commands.count + share);
  end_all(held);
  holders.clear();

  std::jthread one([&] { (void)!::system(fmt::format("'{}' run -- '{}' >/dev/null 2>&1", harn, held).c_str()); });
  Found launcher;
  for (int tries = 0; tries < 100 && find(held).count == 0; ++tries) ::usleep(50000);
  launcher = find(harn);
  if (launcher.memory > 0) fmt::print("as a program of its own, harn run keeps {:.0f} more\n", launcher.memory / launcher.count);
  else fmt::print("what harn run keeps as a program of its own only root can see\n");
  end_all(held);
}

}  // namespace harn::bench

// SPDX-License-Identifier: Apache-2.0
// What confinement costs, as ratios to a bare posix_spawn of the same command. Every case runs once
// per round, so whatever else the machine does hits all of them alike; medians are compared.
//
//   harn_spawn_bench [ROUNDS] [path of harn]
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "harn/probe.h"
#include "harn/sandbox.h"

extern char** environ;

namespace {

using Clock = std::chrono::steady_clock;

struct Case {
  std::string name = {};
  std::string target = {};
  std::function<void()> run = {};
  std::vector<double> times = {};
};

void spawn_and_wait(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0);
  pid_t pid = -1;
  int status = 0;
  if (::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ) != 0) std::abort();
  ::posix_spawn_file_actions_destroy(&actions);
  ::waitpid(pid, &status, 0);
  if (status != 0) {
    fmt::print(stderr, "{} failed with status {}\n", fmt::join(words, " "), status);
    std::exit(1);
  }
}

std::map<std::string, std::string> environment() {
  std::map<std::string, std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (const auto equals = text.find('='); equals != std::string::npos) out.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return out;
}

harn::Plan plan_here(const harn::AbsPath& workspace, bool view) {
  const auto env = environment();
  harn::Policy policy;
  policy.workspace_roots = {workspace};
  auto facts = harn::probe_host({.environment = env, .cwd = workspace});
  if (!view) facts.linux.user_namespaces = facts.linux.pid_namespaces = facts.linux.network_namespaces = false;
  harn::look_at_paths(facts, policy);
  auto plan =
      harn::make_plan(policy, {.argv = {"/bin/true"}, .cwd = workspace, .environment = env}, facts, {.backend = harn::Backend::linux});
  if (!plan) std::abort();
  // The scratch directory belongs to a whole run, not to a spawn.
  plan->scratch.reset();
  return *plan;
}

void library_run(const harn::Plan& plan) {
  const auto outcome = harn::run_plan(plan, {.streams = {harn::Stream::empty, harn::Stream::empty, harn::Stream::empty}, .receipt = false});
  if (outcome && outcome->exit_code == 0) return;
  fmt::print(stderr, "{}\n", outcome ? "the command failed" : harn::describe(outcome.error()));
  std::exit(1);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

void print(const std::vector<Case>& cases) {
  const double bare = median(cases.front().times);
  const double bare_least = *std::ranges::min_element(cases.front().times);
  fmt::print("{:<44} {:>9} {:>7} {:>9} {:>7}  {}\n", "case", "median us", "ratio", "least us", "ratio", "target");
  for (const auto& one : cases) {
    const double middle = median(one.times);
    const double least = *std::ranges::min_element(one.times);
    fmt::print("{:<44} {:>9.0f} {:>7.2f} {:>9.0f} {:>7.2f}  {}\n", one.name, middle, middle / bare, least, least / bare_least, one.target);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 200;
  const std::string harn = argc > 2 ? argv[2] : "build/release/harn";
  char name[] = "/var/tmp/harn-bench-XXXXXX";
  if (::mkdtemp(name) == nullptr) return 1;
  const std::string harn_path = std::filesystem::absolute(harn);
  std::filesystem::current_path(name);
  const auto workspace = harn::AbsPath::of(name);
  const auto confined = plan_here(workspace, /*view=*/true);
  const auto without_view = plan_here(workspace, /*view=*/false);

  std::vector<Case> cases;
  cases.push_back({"bare posix_spawn of /bin/true", "", [] { spawn_and_wait({"/bin/true"}); }});
  cases.push_back({"library, Landlock + seccomp", "<= 1.4", [&] { library_run(without_view); }});
  cases.push_back({"library, all layers", "<= 3.2", [&] { library_run(confined); }});
  cases.push_back({"harn run, all layers", "<= 4.5", [&] { spawn_and_wait({harn_path, "run", "--", "/bin/true"}); }});
  if (std::filesystem::exists("/usr/bin/bwrap"))
    cases.push_back({"bwrap, comparable policy", "harn <= half", [&] {
                       spawn_and_wait({"/usr/bin/bwrap",
                                       "--unshare-all",
                                       "--die-with-parent",
                                       "--ro-bind",
                                       "/usr",
                                       "/usr",
                                       "--ro-bind",
                                       "/etc",
                                       "/etc",
                                       "--symlink",
                                       "usr/bin",
                                       "/bin",
                                       "--symlink",
                                       "usr/lib",
                                       "/lib",
                                       "--symlink",
                                       "usr/lib64",
                                       "/lib64",
                                       "--dev",
                                       "/dev",
                                       "--proc",
                                       "/proc",
                                       "--tmpfs",
                                       "/tmp",
                                       "--tmpfs",
                                       "/root",
                                       "--bind",
                                       name,
                                       name,
                                       "/bin/true"});
                     }});
  for (int round = 0; round < rounds; ++round)
    for (auto& one : cases) {
      const auto start = Clock::now();
      one.run();
      one.times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    }
  print(cases);
  std::filesystem::current_path("/");
  std::filesystem::remove_all(name);
  return 0;
}

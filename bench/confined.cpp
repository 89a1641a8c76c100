// SPDX-License-Identifier: Apache-2.0
#include "confined.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harn/probe.h"

extern char** environ;

namespace harn::bench {
namespace {

std::map<std::string, std::string> environment() {
  std::map<std::string, std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (const auto equals = text.find('='); equals != std::string::npos) out.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return out;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const auto& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

[[noreturn]] void give_up(const std::string& why) {
  fmt::print(stderr, "bench: {}\n", why);
  std::exit(1);
}

pid_t start(const std::vector<std::string>& words, const std::vector<std::string>& more_environment, int output) {
  auto argv = pointers(words);
  std::vector<char*> env = pointers(more_environment);
  env.pop_back();
  for (char** entry = environ; *entry != nullptr; ++entry) env.push_back(*entry);
  env.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (output >= 0) ::posix_spawn_file_actions_adddup2(&actions, output, 1);
  else ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  if (::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), env.data()) != 0) give_up("cannot start " + words[0]);
  ::posix_spawn_file_actions_destroy(&actions);
  return pid;
}

void wait_for(pid_t pid, const std::vector<std::string>& words) {
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (status != 0) give_up(fmt::format("{} failed with status {}", fmt::join(words, " "), status));
}

}  // namespace

void run_in_turns(std::vector<Case>& cases, int rounds) {
  for (int round = 0; round < rounds; ++round)
    for (auto& one : cases) one.taken.push_back(one.run());
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<long>(values.size() / 2));
  return values[values.size() / 2];
}

void print_ratios(const std::vector<Case>& cases, const std::string& unit) {
  const double bare = median(cases.front().taken);
  const double bare_least = std::ranges::min(cases.front().taken);
  fmt::print("{:<44} {:>10} {:>7} {:>10} {:>7}  {}\n", "case", "median " + unit, "ratio", "least " + unit, "ratio", "target");
  for (const auto& one : cases) {
    const double middle = median(one.taken);
    const double least = std::ranges::min(one.taken);
    fmt::print("{:<44} {:>10.0f} {:>7.2f} {:>10.0f} {:>7.2f}  {}\n", one.name, middle, middle / bare, least, least / bare_least,
               one.target);
  }
}

double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double micros_of(const std::function<void()>& work) {
  const double start = seconds_now();
  work();
  return (seconds_now() - start) * 1e6;
}

void spawn_and_wait(const std::vector<std::string>& words, const std::vector<std::string>& more_environment) {
  wait_for(start(words, more_environment, -1), words);
}

std::string output_of(const std::vector<std::string>& words) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) give_up("no pipe");
  const pid_t pid = start(words, {}, ends[1]);
  ::close(ends[1]);
  std::string out;
  char block[256];
  for (ssize_t got = 0; (got = ::read(ends[0], block, sizeof block)) > 0;) out.append(block, static_cast<std::size_t>(got));
  ::close(ends[0]);
  wait_for(pid, words);
  return out;
}

Plan plan_here(const AbsPath& workspace, const std::vector<std::string>& words, Layers layers) {
  const auto env = environment();
  Policy policy;
  policy.workspace_roots = {workspace};
  auto facts = probe_host({.environment = env, .cwd = workspace});
  if (layers == Layers::landlock_and_seccomp || layers == Layers::supervised)
    facts.linux.user_namespaces = facts.linux.pid_namespaces = facts.linux.network_namespaces = false;
  if (layers == Layers::landlock_and_seccomp) facts.linux.seccomp_notify = false;
  look_at_paths(facts, policy);
  const auto backend = layers == Layers::bubblewrap ? Backend::bubblewrap : Backend::linux;
  auto plan = make_plan(policy, {.argv = words, .cwd = workspace, .environment = env}, facts, {.backend = backend});
  if (!plan) give_up(describe(plan.error()));
  plan->scratch.reset();  // belongs to a whole run, not to a spawn
  return *plan;
}

void library_run(const Plan& plan) {
  const auto outcome = run_plan(plan, {.streams = {Stream::empty, Stream::empty, Stream::empty}, .receipt = false});
  if (!outcome) give_up(describe(outcome.error()));
  if (outcome->exit_code != 0) give_up("the command failed");
}

}  // namespace harn::bench

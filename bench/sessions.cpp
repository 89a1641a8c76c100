// SPDX-License-Identifier: Apache-2.0
// What a command costs in a session that exists, and what a session costs that does nothing.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <tuple>

#include <fmt/format.h>

#include "confined.h"
#include "run/kept.h"
#include "sandbox/run_joined.h"

namespace harn::bench {
namespace {

constexpr auto bare = "/bin/true";

[[noreturn]] void give_up(const Error& error) {
  fmt::print(stderr, "bench: {}\n", describe(error));
  std::exit(1);
}

// What a session keeps of its plan for later commands.
Plan light(Plan plan) {
  plan.confinement = {};
  plan.coverage = {};
  return plan;
}

// Private_Clean and Private_Dirty, in KiB.
double private_memory(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/smaps_rollup", pid));
  double sum = 0;
  for (std::string name, rest; in >> name && std::getline(in, rest);)
    if (name == "Private_Clean:" || name == "Private_Dirty:") sum += std::stod(rest);
  return sum;
}

void hold_many(const Plan& plan, const AbsPath& workspace, int count) {
  std::vector<std::pair<AbsPath, pid_t>> held;
  const double start = seconds_now();
  for (int i = 0; i < count; ++i) {
    auto place = workspace.join(fmt::format("keeper-{}", i));
    ::mkdir(place.text().c_str(), 0700);
    auto kept = run::keep_view(plan, {.directory = place});
    if (!kept) give_up(kept.error());
    held.emplace_back(std::move(place), kept->pid);
  }
  const double each = (seconds_now() - start) / count;
  double memory = 0;
  for (const auto& [place, pid] : held) memory += private_memory(pid);
  fmt::print("\n{} idle sessions: {:.0f} KiB of private memory each (target <= 300), made in {:.1f} ms each\n", count, memory / count,
             each * 1000);
  for (const auto& [place, pid] : held) std::ignore = run::end_keeper(place, pid);
}

}  // namespace

void bench_sessions(const std::string& harn, const AbsPath& workspace, int rounds) {
  const auto plan = plan_here(workspace, {bare}, Layers::all);
  const auto place = workspace.join("keeper");
  ::mkdir(place.text().c_str(), 0700);
  auto kept = run::keep_view(plan, {.directory = place});
  if (!kept) give_up(kept.error());
  const auto later = light(plan);
  const sandbox::Joined joined{.directory = place};
  std::vector<Case> cases;
  const auto add = [&](std::string name, std::string target, std::function<void()> work) {
    cases.push_back({std::move(name), std::move(target), [work = std::move(work)] { return micros_of(work); }});
  };
  add("bare posix_spawn of /bin/true", "", [] { spawn_and_wait({bare}); });
  add("library, a command in a session", "<= 1.25", [&] {
    const auto outcome = sandbox::run_joined(later, {.streams = {Stream::empty, Stream::empty, Stream::empty}, .receipt = false}, joined);
    if (!outcome) give_up(outcome.error());
  });
  add("library, all layers anew", "<= 3.2", [&] { library_run(plan); });
  const std::string id = fmt::format("bench-{}", ::getpid());
  output_of({harn, "session", "create", "--profile", "worktree", "--id", id});
  add("harn session exec", "<= 2.2", [&] { spawn_and_wait({harn, "session", "exec", id, "--", bare}); });
  add("harn run, all layers", "<= 4.5", [&] { spawn_and_wait({harn, "run", "--", bare}); });
  run_in_turns(cases, rounds);
  fmt::print("\nA command in a session\n");
  print_ratios(cases, "us");
  std::ignore = run::end_keeper(place, kept->pid);
  output_of({harn, "session", "terminate", id});
  hold_many(plan, workspace, 1000);
}

}  // namespace harn::bench

// SPDX-License-Identifier: Apache-2.0
// What it costs to start a command and see it end, one at a time and four at once.
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "confined.h"

namespace harn::bench {
namespace {

constexpr auto bare = "/bin/true";

// The same policy as bubblewrap understands it, without the filter and the report only our launcher feeds.
std::vector<std::string> bubblewrap_words(const AbsPath& workspace) {
  const auto plan = plan_here(workspace, {bare}, Layers::bubblewrap);
  std::vector<std::string> words;
  for (const auto& word : std::get<Wrapper>(plan.confinement).argv) {
    if (word.starts_with('@')) words.pop_back();
    else words.push_back(word);
  }
  return words;
}

constexpr int workers = 4;
constexpr double slice_seconds = 0.5;
constexpr int slices = 6;

// How many of it four threads get done in a slice of time, per second.
double rate_of(const std::function<void()>& work) {
  std::vector<int> done(workers);
  const double start = seconds_now();
  {
    std::vector<std::jthread> threads;
    for (auto& count : done)
      threads.emplace_back([&work, &count, start] {
        for (; seconds_now() - start < slice_seconds; ++count) work();
      });
  }
  double all = 0;
  for (const int count : done) all += count;
  return all / (seconds_now() - start);
}

}  // namespace

void bench_spawning(const std::string& harn, const AbsPath& workspace, int rounds) {
  const auto confined = plan_here(workspace, {bare}, Layers::all);
  const auto two_layers = plan_here(workspace, {bare}, Layers::landlock_and_seccomp);
  const auto supervised = plan_here(workspace, {bare}, Layers::supervised);
  std::vector<Case> cases;
  const auto add = [&](std::string name, std::string target, std::function<void()> work) {
    cases.push_back({std::move(name), std::move(target), [work = std::move(work)] { return micros_of(work); }});
  };
  add("bare posix_spawn of /bin/true", "", [] { spawn_and_wait({bare}); });
  add("library, Landlock + seccomp", "<= 1.4", [&] { library_run(two_layers); });
  add("library, Landlock + seccomp + supervisor", "", [&] { library_run(supervised); });
  add("library, all layers", "<= 3.2", [&] { library_run(confined); });
  add("harn run, Landlock + seccomp", "<= 2.6",
      [&] { spawn_and_wait({harn, "run", "--backend", "linux", "--", bare}, {"HARN_PRETEND=userns=no,notify=no"}); });
  add("harn run, Landlock + seccomp + supervisor", "",
      [&] { spawn_and_wait({harn, "run", "--backend", "linux", "--", bare}, {"HARN_PRETEND=userns=no"}); });
  add("harn run, all layers", "<= 4.5", [&] { spawn_and_wait({harn, "run", "--", bare}); });
  const bool peer = std::filesystem::exists("/usr/bin/bwrap");
  const auto wrapped = peer ? bubblewrap_words(workspace) : std::vector<std::string>();
  if (peer) add("bwrap, the same policy without a filter", "", [&] { spawn_and_wait(wrapped); });
  run_in_turns(cases, rounds);
  fmt::print("\nStarting a command\n");
  print_ratios(cases, "us");
  if (peer)
    fmt::print("harn run, all layers / bwrap: {:.2f} (target <= 0.5)\n",
               median(cases[cases.size() - 2].taken) / median(cases.back().taken));
}

void bench_rate(const AbsPath& workspace) {
  const auto confined = plan_here(workspace, {bare}, Layers::all);
  std::vector<Case> cases;
  cases.push_back({"bare posix_spawn, 4 workers", "", [] { return rate_of([] { spawn_and_wait({bare}); }); }});
  cases.push_back({"library, all layers, 4 workers", ">= 0.20", [&] { return rate_of([&] { library_run(confined); }); }});
  run_in_turns(cases, slices);
  fmt::print("\nStarting commands all the time\n");
  print_ratios(cases, "1/s");
}

}  // namespace harn::bench

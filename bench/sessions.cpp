// SPDX-License-Identifier: Apache-2.0
// What a command costs in a session that exists, and what a session costs that does nothing.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "confined.h"
#include "harn/session.h"
#include "run/kept.h"
#include "session/record.h"

namespace harn::bench {
namespace {

constexpr auto bare = "/bin/true";

[[noreturn]] void give_up(const Error& error) {
  fmt::print(stderr, "bench: {}\n", describe(error));
  std::exit(1);
}

// Private_Clean and Private_Dirty, in KiB.
double private_memory(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/smaps_rollup", pid));
  double sum = 0;
  for (std::string name, rest; in >> name && std::getline(in, rest);)
    if (name == "Private_Clean:" || name == "Private_Dirty:") sum += std::stod(rest);
  return sum;
}

// A home of the bench's own: nobody else's sessions, and nothing left in anybody's state.
std::map<std::string, std::string> environment_in(const AbsPath& ground) {
  const auto home = ground.join("home").text();
  const auto runtime = ground.join("runtime").text();
  ::mkdir(home.c_str(), 0700);
  ::mkdir(runtime.c_str(), 0700);
  ::setenv("HOME", home.c_str(), 1);
  ::setenv("XDG_RUNTIME_DIR", runtime.c_str(), 1);
  ::unsetenv("XDG_STATE_HOME");
  return {{"HOME", home}, {"XDG_RUNTIME_DIR", runtime}, {"PATH", "/usr/bin:/bin"}};
}

template <class T>
T wanted(SandboxResult<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "bench: {}\n", describe(result.error()));
  std::exit(1);
}

pid_t keeper_of(const std::map<std::string, std::string>& environment, const std::string& id) {
  return wanted(session::load(session::places_for(environment), id)).keeper;
}

LocalSandbox local_in(const AbsPath& root, const std::map<std::string, std::string>& environment) {
  return wanted(
      LocalSandbox::open({.context = {.environment = environment, .cwd = root}, .root_dir = root, .sandbox_profile = Profile::worktree}));
}

SandboxSpec named(const std::string& id) {
  SandboxSpec spec;
  spec.session_id = SandboxSessionId{id};
  return spec;
}

// Namespaces, mounts and the keeper itself have to be made whoever makes them; the rest is ours.
void bench_provision(LocalSandbox& local, const Plan& plan, const AbsPath& ground, int rounds) {
  int number = 0;
  std::vector<Case> cases(2);
  cases[0] = {"kernel objects of a session", "", [&] {
                const auto place = ground.join(fmt::format("bare-{}", number++));
                ::mkdir(place.text().c_str(), 0700);
                Result<run::Kept> kept = run::Kept{};
                const auto took = micros_of([&] { kept = run::keep_view(plan, {.directory = place}); });
                if (!kept) give_up(kept.error());
                std::ignore = run::end_keeper(place, kept->pid);
                return took;
              }};
  cases[1] = {"LocalSandbox::provision", "", [&] {
                const auto id = fmt::format("provision-{}", number++);
                const auto took = micros_of([&] { std::ignore = wanted(local.provision(named(id))); });
                std::ignore = local.terminate({id});
                return took;
              }};
  run_in_turns(cases, rounds);
  fmt::print("\nMaking a session\n");
  print_ratios(cases, "us");
  fmt::print("more than its kernel objects: {:.2f} ms (target <= 5)\n", (median(cases[1].taken) - median(cases[0].taken)) / 1000);
}

void hold_many(LocalSandbox& local, const std::map<std::string, std::string>& environment, int count) {
  const double start = seconds_now();
  for (int i = 0; i < count; ++i) std::ignore = wanted(local.provision(named(fmt::format("idle-{}", i))));
  const double each = (seconds_now() - start) / count;
  double memory = 0;
  for (int i = 0; i < count; ++i) memory += private_memory(keeper_of(environment, fmt::format("idle-{}", i)));
  fmt::print("\n{} idle sessions: {:.0f} KiB of private memory each (target <= 300), made in {:.1f} ms each\n", count, memory / count,
             each * 1000);
  for (int i = 0; i < count; ++i) std::ignore = local.terminate({fmt::format("idle-{}", i)});
}

}  // namespace

void bench_sessions(const std::string& harn, const AbsPath& ground, int rounds) {
  const auto environment = environment_in(ground);
  const auto workspace = ground.join("project");
  std::filesystem::create_directory(workspace.text());
  std::filesystem::current_path(workspace.text());
  const auto plan = plan_here(workspace, {bare}, Layers::all);
  auto local = local_in(workspace, environment);
  std::ignore = wanted(local.provision(named("library")));
  std::vector<Case> cases;
  const auto add = [&](std::string name, std::string target, std::function<void()> work) {
    cases.push_back({std::move(name), std::move(target), [work = std::move(work)] { return micros_of(work); }});
  };
  add("bare posix_spawn of /bin/true", "", [] { spawn_and_wait({bare}); });
  add("library, exec in a session", "<= 1.25", [&] {
    if (wanted(local.exec({"library"}, {.command = bare})).exit_code != 0) give_up(Error{.message = "the command failed"});
  });
  add("library, all layers anew", "<= 3.2", [&] { library_run(plan); });
  output_of({harn, "session", "create", "--profile", "worktree", "--id", "program"});
  add("harn session exec", "<= 2.2", [&] { spawn_and_wait({harn, "session", "exec", "program", "--", bare}); });
  add("harn --version", "", [&] { spawn_and_wait({harn, "--version"}); });
  run_in_turns(cases, rounds);
  fmt::print("\nA command in a session\n");
  print_ratios(cases, "us");
  std::ignore = local.terminate({"library"});
  output_of({harn, "session", "terminate", "program"});
  bench_provision(local, plan, ground, rounds / 10);
  hold_many(local, environment, 1000);
  std::filesystem::current_path(ground.text());
}

}  // namespace harn::bench

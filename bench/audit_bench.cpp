// SPDX-License-Identifier: Apache-2.0
// What an event in the audit log costs: built, appended, and with one wait for the disk shared by all who
// wait at the same time. On a real file system, because that is where waiting costs.
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include <benchmark/benchmark.h>

#include "harn/audit.h"

namespace {

using namespace harn;

const std::string& directory() {
  static const std::string made = [] {
    char name[] = "/var/tmp/harn-audit-bench-XXXXXX";
    if (::mkdtemp(name) == nullptr) std::abort();
    return std::string(name);
  }();
  return made;
}

AuditEvent event() {
  return {.type = AuditEventType::exec_started,
          .data = R"({"argv":["make","-j8","test"],"backend":"linux","cwd":"/home/me/project","env":["HOME","LANG","PATH","SHELL","TERM"],)"
                  R"("env_removed":["GITHUB_TOKEN"],"profile":"worktree","run_id":"run-0123456789abcdef"})",
          .canonical = true};
}

// Each thread with a log of its own, as processes have.
void append(benchmark::State& state, AuditMode mode, std::size_t at_once) {
  const auto log = AuditLog::open({.directory = AbsPath::of(directory() + "/audit"), .session_id = "bench", .durability = mode});
  const std::vector<AuditEvent> events(at_once, event());
  for (auto _ : state)
    if (!log->append(events)) std::abort();
  // The sum over the threads, so that it is the time between two events of all.
  const auto count = static_cast<double>(state.iterations()) * static_cast<double>(at_once);
  state.counters["per_event"] = benchmark::Counter(count, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void append_survives_us(benchmark::State& state) { append(state, AuditMode::process, 1); }
void append_four_survive_us(benchmark::State& state) { append(state, AuditMode::process, 4); }
void append_survives_power_failure(benchmark::State& state) { append(state, AuditMode::power, 1); }
void append_group_survives_power_failure(benchmark::State& state) {
  append(state, AuditMode::power, static_cast<std::size_t>(state.range(0)));
}

void remove_log(const benchmark::State&) { std::filesystem::remove_all(directory()); }
void make_log(const benchmark::State&) { std::filesystem::create_directories(directory()); }

BENCHMARK(append_survives_us)->Setup(make_log)->Teardown(remove_log)->UseRealTime();
BENCHMARK(append_four_survive_us)->Setup(make_log)->Teardown(remove_log)->UseRealTime();
BENCHMARK(append_survives_power_failure)->Setup(make_log)->Teardown(remove_log)->UseRealTime();
BENCHMARK(append_survives_power_failure)->Setup(make_log)->Teardown(remove_log)->UseRealTime()->Threads(16)->Threads(64);
BENCHMARK(append_group_survives_power_failure)->Arg(64)->Arg(256)->Setup(make_log)->Teardown(remove_log)->UseRealTime();

void redact(benchmark::State& state) {
  const std::vector<std::string> words = {"curl",   "-H", "Authorization: Bearer abcdef0123456789", "https://example.org/a?b=c",
                                          "--data", "x=1"};
  const std::vector<std::string> secrets = {"sesame-open", "another-secret"};
  for (auto _ : state) benchmark::DoNotOptimize(redacted_words(words, secrets));
}
BENCHMARK(redact);

}  // namespace

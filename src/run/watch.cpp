// SPDX-License-Identifier: Apache-2.0
#include "run/watch.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

namespace harn::run {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds shortest{5};
constexpr milliseconds longest{50};
constexpr milliseconds longest_when_busy{200};
constexpr int cost_share = 20;  // looking takes at most one part in so many of a processor

// The fastest a tree can plausibly approach a limit; what is far from it need not be looked at soon.
constexpr std::uint64_t bytes_per_ms = 4u << 20;
constexpr std::uint64_t forks_per_ms = 4;

milliseconds until_full(std::uint64_t used, std::uint64_t limit, std::uint64_t per_ms) {
  if (used >= limit) return shortest;
  return milliseconds(static_cast<milliseconds::rep>(std::min<std::uint64_t>((limit - used) / per_ms, 1000)));
}

// Orphans of the tree that came to us and ended.
std::uint64_t reaped_by_us() {
  rusage used = {};
  ::getrusage(RUSAGE_CHILDREN, &used);
  return static_cast<std::uint64_t>((used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1'000'000 + used.ru_utime.tv_usec +
                                    used.ru_stime.tv_usec);
}

// Spent by this thread. The clock would also count how long others kept it waiting, and a busy host is the last
// place to look less often.
nanoseconds own_time() {
  timespec spent = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return std::chrono::seconds(spent.tv_sec) + nanoseconds(spent.tv_nsec);
}

std::uint64_t processors() { return std::max(1u, std::thread::hardware_concurrency()); }

}  // namespace

Watch::Watch(const WatchLimits& limits, const Process& process, bool orphans)
    : limits_(limits),
      tree_(ProcTree::of(process, orphans)),
      memory_(TreeMemory::of(process)),
      orphans_(orphans),
      reaped_before_us_(reaped_by_us()) {}

// Two figures that are each too small: what is alive with everything it and we waited for, and every step
// seen of every process, which also holds those that nobody waited for. The larger one counts.
std::uint64_t Watch::cpu_us(const std::vector<Member>& members) {
  std::uint64_t alive = 0;
  std::map<std::pair<pid_t, std::uint64_t>, std::uint64_t> ticks;
  for (const auto& member : members) {
    alive += member.cpu_ticks + member.reaped_cpu_ticks;
    if (member.init) continue;
    const std::pair key(member.pid, member.started);
    const auto last = last_ticks_.find(key);
    seen_ticks_ += member.cpu_ticks - (last == last_ticks_.end() ? 0 : std::min(last->second, member.cpu_ticks));
    ticks.emplace(key, member.cpu_ticks);
  }
  last_ticks_ = std::move(ticks);
  static const auto ticks_per_second = static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
  const auto reaped = orphans_ ? reaped_by_us() - reaped_before_us_ : 0;
  return std::max(alive * 1'000'000 / ticks_per_second + reaped, seen_ticks_ * 1'000'000 / ticks_per_second);
}

Reading Watch::look() {
  const auto start = own_time();
  Reading reading{.again = longest};
  const auto compare = [&](Spent what, std::uint64_t used, std::uint64_t limit, std::uint64_t per_ms) {
    if (used > limit && reading.spent == Spent::nothing) reading.spent = what;
    reading.again = std::min(reading.again, until_full(used, limit, per_ms));
  };
  const auto members = tree_.members();
  std::uint64_t tasks = 0;
  for (const auto& member : members) tasks += member.init ? 0 : member.threads;
  processes_peak_ = std::max(processes_peak_, tasks);
  if (limits_.memory_bytes) {
    const auto used = memory_.bytes(tree_, members, *limits_.memory_bytes);
    memory_peak_ = std::max(memory_peak_, used);
    compare(Spent::memory, used, *limits_.memory_bytes, bytes_per_ms);
  }
  if (limits_.cpu_us) compare(Spent::cpu, cpu_us(members), *limits_.cpu_us, 1000 * processors());
  if (limits_.processes) compare(Spent::processes, tasks, *limits_.processes, forks_per_ms);
  const auto cost = std::chrono::ceil<milliseconds>((own_time() - start) * cost_share);
  reading.again = std::max({reading.again, shortest, std::min(cost, longest_when_busy)});
  return reading;
}

}  // namespace harn::run

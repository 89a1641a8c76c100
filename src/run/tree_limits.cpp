// SPDX-License-Identifier: Apache-2.0
#include "run/tree_limits.h"

#include <algorithm>
#include <chrono>

namespace harn::run {
namespace {

constexpr std::chrono::milliseconds counters_every{20};  // reading two counters costs next to nothing

std::optional<std::uint64_t> watched(const LimitPlan& limits, const char* name) {
  const auto found = limits.watched.find(name);
  if (found == limits.watched.end()) return std::nullopt;
  return found->second;
}

}  // namespace

Result<TreeLimits> TreeLimits::open(const LimitPlan& limits, const std::string& run_id, const sys::CgroupPlaces& around) {
  TreeLimits out;
  if (!limits.cgroup.empty()) {
    auto places = sys::find_cgroup_places();
    for (const auto& [controller, directory] : around.directories) places.directories.insert_or_assign(controller, directory);
    HARN_TRY(cgroup, Cgroup::make(places, {.run_id = run_id, .values = limits.cgroup}));
    out.cgroup_.emplace(std::move(cgroup));
  }
  out.memory_charged_ = limits.cgroup.contains("memory.max") || limits.cgroup.contains("memory.limit_in_bytes");
  out.sampled_ = {.memory_bytes = watched(limits, "memory_bytes"), .processes = watched(limits, "processes")};
  // One second more than each process alone may have: a single one ends by its own limit, with a
  // signal it can catch.
  if (const auto seconds = watched(limits, "cpu_seconds")) (out.cgroup_ ? out.counted_ : out.sampled_).cpu_us = (*seconds + 1) * 1'000'000;
  return out;
}

std::vector<std::string> TreeLimits::join_files() const { return cgroup_ ? cgroup_->join_files() : std::vector<std::string>(); }

void TreeLimits::watch(const Process& process, bool orphans) {
  if (sampled_.any()) watch_.emplace(sampled_, process, orphans);
}

Reading TreeLimits::look() {
  Reading reading;
  if (watch_) reading = watch_->look();
  if (!cgroup_) return reading;
  reading.again = std::min(reading.again, counters_every);
  if (reading.spent != Spent::nothing) return reading;
  // Version 1 kills one process of the group and leaves the others in an unknown state.
  if (memory_charged_ && cgroup_->files().oom_kills() > 0) reading.spent = Spent::memory;
  else if (counted_.cpu_us && cgroup_->files().cpu_us() > *counted_.cpu_us) reading.spent = Spent::cpu;
  return reading;
}

std::function<Reading()> TreeLimits::check() {
  if (!watch_ && !memory_charged_ && !counted_.any()) return {};
  return [this] { return look(); };
}

std::function<void(std::uint64_t)> TreeLimits::shared_memory() {
  if (!watch_ || !sampled_.memory_bytes) return {};
  return [this](std::uint64_t bytes) { watch_->set_system_v(bytes); };
}

std::function<void()> TreeLimits::killer() {
  if (!cgroup_) return {};
  return [this] {
    // Ending a group refuses forks too, which says nothing about the limit.
    if (!refused_forks_) refused_forks_ = cgroup_->files().refused_forks();
    cgroup_->kill_all();
  };
}

void TreeLimits::report(Outcome& outcome) const {
  auto& usage = outcome.usage;
  const auto counted = [](std::uint64_t value, std::uint64_t& out) {
    if (value != 0) out = value;
  };
  if (watch_) {
    usage.max_memory_bytes = std::max(usage.max_memory_bytes, watch_->memory_peak_bytes());
    counted(watch_->processes_peak(), usage.processes);
  }
  if (!cgroup_) return;
  const auto& files = cgroup_->files();
  counted(files.memory_peak_bytes(), usage.max_memory_bytes);
  counted(files.processes_peak(), usage.processes);
  counted(files.cpu_us() / 1000, usage.cpu_ms);
  if (refused_forks_.value_or(files.refused_forks()) > 0) outcome.processes_exceeded = true;
}

}  // namespace harn::run

// SPDX-License-Identifier: Apache-2.0
#include "run/unix/tree.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>

namespace harn::run {
namespace {

constexpr int rounds = 200;
constexpr useconds_t pause_us = 2000;  // for the killed to get to their end

}  // namespace

// Children may be listed before their parents, so that the list is read until nobody new is found.
TreeUsage Tree::look() {
  const auto everybody = list_processes();
  std::set<pid_t> pids = {leader_};
  std::map<Key, const ProcessEntry*> now;
  for (bool more = true; more;) {
    more = false;
    for (const auto& entry : everybody) {
      const Key key(entry.pid, entry.started);
      if (entry.ended || entry.pid == ::getpid() || now.contains(key)) continue;
      const bool ours = entry.pid == leader_ || members_.contains(key) || pids.contains(entry.parent) || groups_.contains(entry.group);
      if (!ours) continue;
      more = true;
      now.emplace(key, &entry);
      pids.insert(entry.pid);
      // Only a group one of them leads: a process may also join the group of whoever started us.
      if (entry.group == entry.pid) groups_.insert(entry.group);
    }
  }
  for (const auto& [key, spent] : members_)
    if (!now.contains(key)) ended_cpu_ms_ += spent;
  members_.clear();
  TreeUsage used{.cpu_ms = ended_cpu_ms_};
  std::set<pid_t> alive = {leader_};  // the number of an empty group can become somebody else's
  for (const auto& [key, entry] : now) {
    members_[key] = entry->cpu_ms;
    if (groups_.contains(entry->group)) alive.insert(entry->group);
    used.resident_bytes += entry->resident_bytes;
    used.cpu_ms += entry->cpu_ms;
    ++used.processes;
  }
  groups_ = std::move(alive);
  return used;
}

std::string Tree::passed(const TreeUsage& used, const LimitPlan& limits) {
  const auto over = [&](const char* name, std::uint64_t value) {
    const auto found = limits.watched.find(name);
    return found != limits.watched.end() && value > found->second;
  };
  if (over("memory_bytes", used.resident_bytes)) return "memory_bytes";
  // One second more than each process alone may have: a single one ends by its own limit, with a signal it can catch.
  if (over("cpu_seconds", used.cpu_ms < 1000 ? 0 : used.cpu_ms / 1000 - 1)) return "cpu_seconds";
  if (over("processes", used.processes)) return "processes";
  return {};
}

void Tree::signal(int number) const {
  ::kill(-leader_, number);
  for (const auto& [key, spent] : members_) ::kill(key.first, number);
}

std::uint64_t Tree::end_all() {
  std::set<Key> others;
  for (int round = 0; round < rounds; ++round) {
    look();
    for (const auto& [key, spent] : members_)
      if (key.first != leader_) others.insert(key);
    if (members_.empty()) break;
    signal(SIGKILL);
    ::usleep(pause_us);
  }
  return others.size();
}

std::size_t Tree::left() const {
  return static_cast<std::size_t>(std::ranges::count_if(members_, [&](const auto& entry) { return entry.first.first != leader_; }));
}

}  // namespace harn::run

// SPDX-License-Identifier: Apache-2.0
// Chooses the groups of assets/syscalls that apply and spells them out for one architecture.
#include "plan/syscalls/syscalls.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "harn_syscall_assets.h"
#include "plan/syscalls/syscall_tables.h"

namespace harn::plan {
namespace {

static_assert(std::size(tables::architectures) == architecture_count);
static_assert(std::ranges::is_sorted(tables::numbers, {}, &SyscallNumber::name));

bool value_of(Fact fact, const SyscallOptions& options) {
  const bool inet = options.network != NetworkReach::none;
  const bool interfaces = options.private_network || options.network == NetworkReach::unrestricted;
  switch (fact) {
    case Fact::always: return true;
    case Fact::sockets: return inet || options.unix_full || interfaces;
    case Fact::explained: return options.supervised && options.explained;
    case Fact::explained_sockets:
      return value_of(Fact::explained, options) && value_of(Fact::sockets, options) && !options.supervised_sockets &&
             !options.supervised_network;
    case Fact::interfaces: return interfaces;
    case Fact::inet: return inet;
    case Fact::host_network: return options.network == NetworkReach::unrestricted;
    case Fact::unix_full: return options.unix_full;
    case Fact::private_ipc: return options.private_ipc;
    case Fact::private_pids: return options.private_pids;
    case Fact::metadata: return options.metadata;
    case Fact::truncation_checked: return options.truncation_checked;
    case Fact::root: return options.root;
    case Fact::supervised: return options.supervised;
    case Fact::supervised_metadata: return options.supervised && options.metadata;
    case Fact::supervised_binds: return options.supervised && options.supervised_binds;
    case Fact::supervised_sockets: return options.supervised && options.supervised_sockets;
    case Fact::supervised_datagrams: return value_of(Fact::supervised_sockets, options) && value_of(Fact::unix_datagrams, options);
    case Fact::supervised_network: return options.supervised && options.supervised_network;
    case Fact::supervised_signals: return options.supervised && options.supervised_signals;
    case Fact::plain_ioctls: return options.plain_ioctls;
    case Fact::unix_datagrams: return options.unix_full && options.unix_datagrams;
    case Fact::supervised_reads: return options.supervised && options.supervised_reads;
  }
  return false;
}

SyscallRule rule_of(const SyscallGroup& group, std::size_t architecture) {
  SyscallRule rule{.action = group.action, .error = group.error, .reason = std::string(group.reason)};
  rule.names.reserve(group.calls.size());
  for (const auto call : group.calls) {
    const SyscallNumber& row = tables::numbers[call];
    if (row.number[architecture] >= 0) rule.names.emplace_back(row.name);
  }
  return rule;
}

void append_rules(const SyscallGroup& group, std::size_t architecture, std::vector<SyscallRule>& rules) {
  SyscallRule rule = rule_of(group, architecture);
  if (rule.names.empty()) return;
  for (const auto& tests : group.alternatives) {
    rule.when.assign(tests.begin(), tests.end());
    rules.push_back(rule);
  }
  if (group.alternatives.empty()) rules.push_back(std::move(rule));
}

// A refusal the supervisor gives instead of the filter is the same refusal, and can be told. Not where a call may also
// be answered otherwise: the supervisor would not know which it is. ENOSYS and its kin make programs take another way.
void refuse_by_supervisor(SyscallFilter& filter) {
  constexpr int not_permitted = 1;
  std::set<std::string_view> answered;
  for (const auto& rule : filter.rules)
    if (rule.action == SyscallAction::notify) answered.insert(rule.names.begin(), rule.names.end());
  for (auto& rule : filter.rules) {
    const bool refuses = rule.action == SyscallAction::errno_ && rule.error == not_permitted;
    const bool mixed = std::ranges::any_of(rule.names, [&](const std::string& name) { return answered.contains(name); });
    if (refuses && !mixed) rule.action = SyscallAction::notify;
  }
  if (filter.otherwise == SyscallAction::errno_ && filter.otherwise_error == not_permitted) filter.otherwise = SyscallAction::notify;
}

}  // namespace

std::vector<std::string> calls_looked_at(const SyscallOptions& options) {
  std::vector<std::string> names;
  const auto architecture = find_architecture(options.arch);
  for (const SyscallGroup* group : tables::groups) {
    const bool looked = group->fact == Fact::explained || group->fact == Fact::explained_sockets;
    if (!architecture || !looked || !value_of(group->fact, options)) continue;
    for (auto& name : rule_of(*group, *architecture).names) names.push_back(std::move(name));
  }
  return names;
}

std::optional<std::size_t> find_architecture(std::string_view name) {
  const auto found = std::ranges::find(tables::architectures, name);
  if (found == std::end(tables::architectures)) return std::nullopt;
  return static_cast<std::size_t>(found - std::begin(tables::architectures));
}

std::optional<std::uint32_t> find_syscall(std::string_view name, std::size_t architecture) {
  const auto found = std::ranges::lower_bound(tables::numbers, name, {}, &SyscallNumber::name);
  if (found == std::end(tables::numbers) || found->name != name || found->number[architecture] < 0) return std::nullopt;
  return static_cast<std::uint32_t>(found->number[architecture]);
}

std::string_view syscall_name(std::uint32_t number, std::size_t architecture) {
  const auto found =
      std::ranges::find_if(tables::numbers, [&](const SyscallNumber& row) { return row.number[architecture] == static_cast<int>(number); });
  return found == std::end(tables::numbers) ? std::string_view() : found->name;
}

std::uint32_t newest_syscall(std::size_t architecture) {
  static constexpr auto newest = [] {
    std::array<std::uint32_t, architecture_count> highest = {};
    for (const SyscallNumber& row : tables::numbers)
      for (std::size_t i = 0; i < architecture_count; ++i)
        if (row.number[i] > 0) highest[i] = std::max(highest[i], static_cast<std::uint32_t>(row.number[i]));
    return highest;
  }();
  return newest[architecture];
}

Result<SyscallFilter> plan_syscalls(const SyscallOptions& options) {
  const auto architecture = find_architecture(options.arch);
  if (!architecture)
    return fail({.code = ErrorCode::not_supported,
                 .stage = Stage::plan,
                 .message = fmt::format("Harn has no system call list for the architecture {}", base::quoted(options.arch)),
                 .hint = fmt::format("use one of {}", fmt::join(tables::architectures, ", "))});
  SyscallFilter filter{.arch = options.arch};
  for (const SyscallGroup* group : tables::groups)
    if (value_of(group->fact, options) == group->holds) append_rules(*group, *architecture, filter.rules);
  if (value_of(Fact::explained, options)) refuse_by_supervisor(filter);
  return filter;
}

}  // namespace harn::plan

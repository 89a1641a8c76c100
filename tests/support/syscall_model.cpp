// SPDX-License-Identifier: Apache-2.0
// See syscall_model.h. Deliberately slow and literal.
#include "support/syscall_model.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <vector>

#include "harn_syscall_assets.h"

namespace harn::test {
namespace {

// Names by number; as long as the newest number.
std::vector<std::string_view> names_of(std::size_t column) {
  std::vector<std::string_view> names;
  for (const plan::SyscallNumber& row : plan::tables::numbers) {
    if (row.number[column] < 0) continue;
    const auto number = static_cast<std::size_t>(row.number[column]);
    names.resize(std::max(names.size(), number + 1));
    names[number] = row.name;
  }
  return names;
}

const std::vector<std::string_view>& names_of(std::string_view arch) {
  static const std::vector<std::string_view> tables[] = {names_of(0U), names_of(1U), names_of(2U)};
  return tables[std::ranges::find(plan::tables::architectures, arch) - std::begin(plan::tables::architectures)];
}

std::string_view name_of(std::uint32_t number, std::string_view arch) {
  const auto& names = names_of(arch);
  return number < names.size() ? names[number] : std::string_view();
}

bool holds(const ArgumentTest& test, const SyscallEvent& event) {
  const std::uint64_t value = event.arguments[test.index] & test.mask;
  switch (test.compare) {
    case Compare::equal: return value == test.value;
    case Compare::not_equal: return value != test.value;
    case Compare::less: return value < test.value;
    case Compare::less_equal: return value <= test.value;
    case Compare::greater: return value > test.value;
    case Compare::greater_equal: return value >= test.value;
  }
  return false;
}

std::uint32_t verdict_of(SyscallAction action, int error) {
  switch (action) {
    case SyscallAction::allow: return allow;
    case SyscallAction::errno_: return fails_with(error);
    case SyscallAction::kill: return kill_process;
    case SyscallAction::notify: return notify;
  }
  return 0;
}

std::uint64_t interesting(Random& random) {
  static constexpr std::uint64_t values[] = {
      0, 1, 2, 5, 10, 0x5412, 0xffffffff, 0x100000000, 0x7e020000, 0xffffffff00000000, 0x100005412, ~std::uint64_t{0}};
  return random.below(4) == 0 ? random.next() : values[random.below(std::size(values))];
}

ArgumentTest random_test(Random& random) {
  static constexpr std::uint64_t masks[] = {~std::uint64_t{0}, ~std::uint64_t{0}, 0xffffffff, 0xffffffff00000000};
  ArgumentTest test{.index = random.chance(50) ? 0 : static_cast<unsigned>(random.below(6)),
                    .mask = random.chance(25) ? interesting(random) : masks[random.below(std::size(masks))],
                    .compare = random.chance(50) ? Compare::equal : static_cast<Compare>(random.below(6)),
                    .value = interesting(random)};
  if (random.chance(75)) test.value &= test.mask;
  return test;
}

SyscallRule random_rule(Random& random, std::string_view arch) {
  static constexpr SyscallAction actions[] = {SyscallAction::allow, SyscallAction::allow, SyscallAction::errno_, SyscallAction::kill,
                                              SyscallAction::notify};
  SyscallRule rule{.action = actions[random.below(std::size(actions))]};
  if (rule.action == SyscallAction::errno_) rule.error = 1 + static_cast<int>(random.below(40));
  for (std::size_t i = 1 + random.below(5); i > 0; --i) {
    const std::string_view name = random.pick(names_of(arch));
    if (!name.empty()) rule.names.emplace_back(name);
  }
  for (std::size_t i = random.below(4); i > 0; --i) rule.when.push_back(random_test(random));
  return rule;
}

// Tests the filter makes on this call, from any of its rules.
std::vector<ArgumentTest> tests_on(const SyscallFilter& filter, std::string_view name) {
  std::vector<ArgumentTest> tests;
  for (const SyscallRule& rule : filter.rules)
    if (std::ranges::find(rule.names, name) != rule.names.end()) tests.insert(tests.end(), rule.when.begin(), rule.when.end());
  return tests;
}

}  // namespace

std::uint32_t audit_architecture(std::string_view arch) {
  if (arch == "x86_64") return 0xc000003e;
  if (arch == "aarch64") return 0xc00000b7;
  return 0xc00000f3;
}

std::optional<std::uint32_t> number_of(std::string_view name, std::string_view arch) {
  const auto& names = names_of(arch);
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - names.begin());
}

std::uint32_t meaning(const SyscallFilter& filter, const SyscallEvent& event) {
  if (event.architecture != audit_architecture(filter.arch)) return kill_process;
  if (filter.arch == "x86_64" && event.number >= 0x40000000 && event.number != 0xffffffff) return kill_process;
  if (event.number >= names_of(filter.arch).size()) return fails_with(ENOSYS);
  const std::string_view name = name_of(event.number, filter.arch);
  for (const SyscallRule& rule : filter.rules) {
    if (std::ranges::find(rule.names, name) == rule.names.end()) continue;
    if (std::ranges::all_of(rule.when, [&](const ArgumentTest& test) { return holds(test, event); }))
      return verdict_of(rule.action, rule.error);
  }
  return verdict_of(filter.otherwise, filter.otherwise_error);
}

SyscallFilter random_filter(Random& random, std::string_view arch) {
  SyscallFilter filter{.arch = std::string(arch)};
  if (random.chance(25)) filter.otherwise_error = ENOSYS;
  for (std::size_t i = random.below(7); i > 0; --i) {
    SyscallRule rule = random_rule(random, arch);
    filter.rules.push_back(rule);
    // More rules for the same calls, some of which begin alike: chains and shared tests are where errors hide.
    for (std::size_t more = random.below(4); more > 0; --more) {
      SyscallRule next = random_rule(random, arch);
      next.names = rule.names;
      if (random.chance(50)) next.when.insert(next.when.begin(), rule.when.begin(), rule.when.end());
      filter.rules.push_back(next);
    }
  }
  return filter;
}

SyscallEvent random_event(Random& random, const SyscallFilter& filter, std::uint32_t number) {
  SyscallEvent event{.number = number, .architecture = audit_architecture(filter.arch)};
  event.instruction_pointer = random.next();
  for (std::uint64_t& argument : event.arguments) argument = interesting(random);
  for (const ArgumentTest& test : tests_on(filter, name_of(number, filter.arch))) {
    std::uint64_t& argument = event.arguments[test.index];
    switch (random.below(6)) {
      case 0: break;
      case 1: argument = test.value ^ (std::uint64_t{1} << random.below(64)); break;
      case 2: argument = test.value + 1; break;
      case 3: argument = test.value - 1; break;
      case 4: argument = test.value; break;
      default: argument = (test.value & test.mask) | (random.next() & ~test.mask);
    }
  }
  return event;
}

}  // namespace harn::test

// SPDX-License-Identifier: Apache-2.0
// The kernel runs a filter once for every number when it is installed and translates each of its
// instructions, so the program is a shallow search tree over ranges of numbers that share a fate.
#include "plan/syscalls/bpf.h"

#include <algorithm>
#include <compare>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "plan/syscalls/bpf_assembler.h"
#include "plan/syscalls/bpf_conditions.h"
#include "plan/syscalls/syscall_tables.h"

namespace harn::plan {
namespace {

constexpr std::uint32_t return_kill = 0x80000000;  // SECCOMP_RET_KILL_PROCESS
constexpr std::uint32_t return_errno = 0x00050000;
constexpr std::uint32_t return_notify = 0x7fc00000;
constexpr std::uint32_t return_allow = 0x7fff0000;
constexpr std::uint32_t return_unknown_call = return_errno | 38;  // ENOSYS

constexpr int max_errno = 4095;
constexpr unsigned max_argument = 5;
constexpr std::uint32_t x32_bit = 0x40000000;
constexpr std::uint32_t no_number = 0xffffffff;  // -1: a tracer skipped the call, or a program probes

constexpr std::uint32_t number_offset = 0;  // in struct seccomp_data
constexpr std::uint32_t architecture_offset = 4;

struct ArchitectureRow {
  std::string_view name = {};
  std::uint32_t audit = 0;  // AUDIT_ARCH_*
  bool has_x32 = false;
};
constexpr ArchitectureRow architecture_rows[] = {
    {"x86_64", 0xc000003e, true},
    {"aarch64", 0xc00000b7, false},
    {"riscv64", 0xc00000f3, false},
};

auto unsupported(std::string message, std::string hint = {}) {
  return fail({.code = ErrorCode::not_supported, .stage = Stage::prepare, .message = std::move(message), .hint = std::move(hint)});
}

auto too_long() {
  return unsupported(fmt::format("the system call filter needs more than the {} instructions the kernel takes", max_bpf_instructions),
                     "use fewer conditions on arguments");
}

Result<std::uint32_t> verdict_of(SyscallAction action, int error) {
  switch (action) {
    case SyscallAction::allow: return return_allow;
    case SyscallAction::kill: return return_kill;
    case SyscallAction::notify: return return_notify;
    case SyscallAction::errno_: break;
  }
  if (error < 1 || error > max_errno) return unsupported(fmt::format("a filter cannot fail a system call with errno {}", error));
  return return_errno | static_cast<std::uint32_t>(error);
}

// ---- rules by name to fates by number ----------------------------------------------------------------

// A rule with tests, for one number.
struct Condition {
  std::uint32_t number = 0;
  std::uint32_t rule = 0;

  auto operator<=>(const Condition&) const = default;
};

struct Fates {
  std::vector<ConditionalVerdict> rules = {};  // as in the filter
  std::vector<std::uint32_t> finals = {};      // by number: the verdict where no condition holds
  std::vector<bool> decided = {};              // by number: later rules cannot matter
  std::vector<Condition> conditions = {};      // by number, then in order of the rules
  std::size_t tests = 0;                       // in all conditions together
};

// Numbers from `first` to the next range.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t verdict = 0;
  std::span<const Condition> conditions = {};
  std::uint32_t weight = 1;

  bool same_fate(const Range& other) const {
    return verdict == other.verdict && std::ranges::equal(conditions, other.conditions, {}, &Condition::rule, &Condition::rule);
  }
};

Status add_rule(const SyscallRule& rule, std::size_t architecture, Fates& fates) {
  HARN_TRY(verdict, verdict_of(rule.action, rule.error));
  if (std::ranges::any_of(rule.when, [](const ArgumentTest& test) { return test.index > max_argument; }))
    return unsupported("a system call has only six arguments, numbered 0 to 5");
  const auto index = static_cast<std::uint32_t>(fates.rules.size());
  fates.rules.push_back({.when = rule.when, .verdict = verdict});
  for (const std::string& name : rule.names) {
    const auto number = find_syscall(name, architecture);
    if (!number) return unsupported(fmt::format("there is no system call {} on this architecture", base::quoted(name)));
    if (fates.decided[*number]) continue;
    if (!rule.when.empty()) {
      fates.conditions.push_back({.number = *number, .rule = index});
      fates.tests += rule.when.size();
    } else {
      fates.finals[*number] = verdict;
      fates.decided[*number] = true;
    }
  }
  return {};
}

Result<Fates> fates_of(const SyscallFilter& filter, std::size_t architecture) {
  HARN_TRY(otherwise, verdict_of(filter.otherwise, filter.otherwise_error));
  const std::size_t count = newest_syscall(architecture) + 1;
  Fates fates{.finals = std::vector(count, otherwise), .decided = std::vector(count, false)};
  for (const SyscallRule& rule : filter.rules) {
    HARN_OK(add_rule(rule, architecture, fates));
    if (fates.tests > max_bpf_instructions) return too_long();
  }
  std::ranges::sort(fates.conditions);
  return fates;
}

// Calls whose arguments are read run the filter every time; the kernel remembers the answer for all
// others. So those stand higher in the tree, and long ranges higher than short ones.
constexpr std::uint32_t weight_of_conditions = 8;

std::vector<Range> ranges_of(const Fates& fates, bool has_x32) {
  std::vector<Range> ranges;
  auto condition = fates.conditions.begin();
  for (std::uint32_t number = 0; number < fates.finals.size(); ++number) {
    const auto begin = condition;
    while (condition != fates.conditions.end() && condition->number == number) ++condition;
    const Range range{.first = number,
                      .verdict = fates.finals[number],
                      .conditions = {begin, condition},
                      .weight = begin == condition ? 1 : weight_of_conditions};
    if (!ranges.empty() && ranges.back().same_fate(range)) {
      ranges.back().weight += range.weight;
    } else {
      ranges.push_back(range);
    }
  }
  ranges.push_back({.first = static_cast<std::uint32_t>(fates.finals.size()), .verdict = return_unknown_call});
  if (has_x32) {
    ranges.push_back({.first = x32_bit, .verdict = return_kill});
    ranges.push_back({.first = no_number, .verdict = return_unknown_call});
  }
  return ranges;
}

// ---- ranges to a tree --------------------------------------------------------------------------------

class TreeWriter {
 public:
  TreeWriter(BpfAssembler& assembler, const Fates& fates, std::vector<Range> ranges);

  BpfTarget write() { return write(0, ranges_.size()); }

 private:
  BpfTarget write(std::size_t begin, std::size_t end);
  BpfTarget write_leaf(const Range& range);
  std::size_t middle(std::size_t begin, std::size_t end) const;
  bool is_single_exception(std::size_t begin, std::size_t end) const;

  BpfAssembler& assembler_;
  const Fates& fates_;
  std::vector<Range> ranges_ = {};
  std::vector<std::uint32_t> weight_before_ = {};
  std::vector<std::pair<const Range*, BpfTarget>> written_ = {};  // leaves with conditions, to share
};

TreeWriter::TreeWriter(BpfAssembler& assembler, const Fates& fates, std::vector<Range> ranges)
    : assembler_(assembler), fates_(fates), ranges_(std::move(ranges)), weight_before_{0} {
  for (const Range& range : ranges_) weight_before_.push_back(weight_before_.back() + range.weight);
}

// Where to split so that both sides weigh about the same.
std::size_t TreeWriter::middle(std::size_t begin, std::size_t end) const {
  const std::uint32_t half = (weight_before_[begin] + weight_before_[end]) / 2;
  const auto from = weight_before_.begin();
  const auto split =
      std::ranges::lower_bound(from + static_cast<std::ptrdiff_t>(begin) + 1, from + static_cast<std::ptrdiff_t>(end) - 1, half);
  return static_cast<std::size_t>(split - from);
}

// One number inside a range of another fate: a single comparison tells.
bool TreeWriter::is_single_exception(std::size_t begin, std::size_t end) const {
  return end - begin == 3 && ranges_[begin + 1].first + 1 == ranges_[begin + 2].first && ranges_[begin].same_fate(ranges_[begin + 2]);
}

BpfTarget TreeWriter::write_leaf(const Range& range) {
  const BpfTarget last{.value = range.verdict};
  if (range.conditions.empty()) return last;
  const auto same = std::ranges::find_if(written_, [&](const auto& leaf) { return leaf.first->same_fate(range); });
  if (same != written_.end()) return same->second;
  std::vector<ConditionalVerdict> rules;
  for (const Condition& condition : range.conditions) rules.push_back(fates_.rules[condition.rule]);
  return written_.emplace_back(&range, write_rules(assembler_, rules, last)).second;
}

BpfTarget TreeWriter::write(std::size_t begin, std::size_t end) {
  if (end - begin == 1) return write_leaf(ranges_[begin]);
  if (is_single_exception(begin, end)) {
    const BpfTarget around = write_leaf(ranges_[begin]);
    const BpfTarget exception = write_leaf(ranges_[begin + 1]);
    return assembler_.branch(BpfJump::equal, ranges_[begin + 1].first, {.yes = exception, .no = around});
  }
  const std::size_t split = middle(begin, end);
  const BpfTarget upper = write(split, end);
  const BpfTarget lower = write(begin, split);
  return assembler_.branch(BpfJump::greater_equal, ranges_[split].first, {.yes = upper, .no = lower});
}

}  // namespace

Result<BpfProgram> compile_filter(const SyscallFilter& filter) {
  const auto architecture = find_architecture(filter.arch);
  const auto row = std::ranges::find(architecture_rows, filter.arch, &ArchitectureRow::name);
  if (!architecture || row == std::end(architecture_rows))
    return unsupported(fmt::format("no system call filter can be made for the architecture {}", base::quoted(filter.arch)));
  HARN_TRY(fates, fates_of(filter, *architecture));

  BpfAssembler assembler;
  BpfTarget tree = TreeWriter(assembler, fates, ranges_of(fates, row->has_x32)).write();
  if (!tree.is_verdict) tree = assembler.fetch({.offset = number_offset});
  assembler.branch(BpfJump::equal, row->audit, {.yes = tree, .no = {.value = return_kill}});
  assembler.fetch({.offset = architecture_offset});
  if (assembler.size() > max_bpf_instructions) return too_long();
  return std::move(assembler).finish();
}

}  // namespace harn::plan

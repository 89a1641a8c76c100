// SPDX-License-Identifier: Apache-2.0
// Arguments are 64 bits wide and the BPF machine compares 32, so a test looks at both halves: a
// filter that checks only one lets a caller hide in the other.
#include "plan/syscalls/bpf_conditions.h"

#include <algorithm>
#include <optional>

namespace harn::plan {
namespace {

// What the accumulator is known to hold on entry, if anything.
using Held = std::optional<BpfWord>;

constexpr std::uint32_t low_half(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint32_t high_half(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

// struct seccomp_data holds the arguments from offset 16; every architecture Harn knows is little-endian.
BpfWord low_word(const ArgumentTest& test) { return {.offset = 16 + 8 * test.index, .mask = low_half(test.mask)}; }
BpfWord high_word(const ArgumentTest& test) { return {.offset = 20 + 8 * test.index, .mask = high_half(test.mask)}; }

BpfTarget fetch(BpfAssembler& assembler, const BpfWord& word, const Held& held, const BpfTarget& comparison) {
  return held == word ? comparison : assembler.fetch(word);
}

BpfTarget write_equal(BpfAssembler& assembler, const ArgumentTest& test, const BpfBranch& to, const Held& held) {
  if ((test.value & ~test.mask) != 0) return to.no;
  const BpfWord low = low_word(test);
  const BpfWord high = high_word(test);
  BpfTarget entry = to.yes;
  if (low.mask != 0) {
    entry = assembler.branch(BpfJump::equal, low_half(test.value), {.yes = entry, .no = to.no});
    entry = fetch(assembler, low, high.mask == 0 ? held : Held{}, entry);
  }
  if (high.mask != 0) {
    entry = assembler.branch(BpfJump::equal, high_half(test.value), {.yes = entry, .no = to.no});
    entry = fetch(assembler, high, held, entry);
  }
  return entry;
}

// (argument & mask) > value, or >= where `jump` says so: the high halves decide unless they are equal.
BpfTarget write_order(BpfAssembler& assembler, const ArgumentTest& test, BpfJump jump, const BpfBranch& to) {
  const std::uint32_t low_value = low_half(test.value);
  const std::uint32_t high_value = high_half(test.value);
  if (high_half(test.mask) == 0 && high_value != 0) return to.no;
  BpfTarget low = jump == BpfJump::greater_equal && low_value == 0 ? to.yes : to.no;
  if (low_half(test.mask) != 0) {
    assembler.branch(jump, low_value, to);
    low = assembler.fetch(low_word(test));
  }
  if (high_half(test.mask) == 0) return low;
  const BpfTarget same = assembler.branch(BpfJump::equal, high_value, {.yes = low, .no = to.no});
  assembler.branch(BpfJump::greater, high_value, {.yes = to.yes, .no = same});
  return assembler.fetch(high_word(test));
}

BpfTarget write_test(BpfAssembler& assembler, const ArgumentTest& test, const BpfBranch& to, const Held& held) {
  if (to.yes == to.no) return to.yes;
  const BpfBranch swapped{.yes = to.no, .no = to.yes};
  switch (test.compare) {
    case Compare::equal: return write_equal(assembler, test, to, held);
    case Compare::not_equal: return write_equal(assembler, test, swapped, held);
    case Compare::greater: return write_order(assembler, test, BpfJump::greater, to);
    case Compare::greater_equal: return write_order(assembler, test, BpfJump::greater_equal, to);
    case Compare::less: return write_order(assembler, test, BpfJump::greater_equal, swapped);
    case Compare::less_equal: return write_order(assembler, test, BpfJump::greater, swapped);
  }
  return to.no;
}

// What the accumulator holds after the test, where that does not depend on the way taken.
Held held_after(const ArgumentTest& test) {
  const bool one_word = low_half(test.mask) == 0 || high_half(test.mask) == 0;
  if (!one_word || test.mask == 0 || (test.value & ~test.mask) != 0) return std::nullopt;
  return low_half(test.mask) != 0 ? low_word(test) : high_word(test);
}

struct RuleList {
  std::span<const ConditionalVerdict> rules = {};
  std::size_t depth = 0;  // tests before this one are known to hold for all of them
  BpfTarget otherwise = {};
  Held held = {};
};

BpfTarget write_list(BpfAssembler& assembler, const RuleList& list) {
  if (list.rules.empty()) return list.otherwise;
  const ConditionalVerdict& first = list.rules.front();
  if (first.when.size() == list.depth) return {.value = first.verdict};

  // Rules that begin with the same test share it: where it fails, all of them do.
  const ArgumentTest& test = first.when[list.depth];
  const auto other = std::ranges::find_if(
      list.rules, [&](const ConditionalVerdict& rule) { return rule.when.size() == list.depth || rule.when[list.depth] != test; });
  const auto sharing = static_cast<std::size_t>(other - list.rules.begin());
  const bool decides = first.when.size() == list.depth + 1;  // then only this test leads on to the rest
  const BpfTarget rest = write_list(assembler, {.rules = list.rules.subspan(sharing),
                                                .depth = list.depth,
                                                .otherwise = list.otherwise,
                                                .held = decides ? held_after(test) : Held{}});
  const BpfTarget holds = write_list(assembler, {.rules = list.rules.first(sharing), .depth = list.depth + 1, .otherwise = rest});
  return write_test(assembler, test, {.yes = holds, .no = rest}, list.held);
}

}  // namespace

BpfTarget write_rules(BpfAssembler& assembler, std::span<const ConditionalVerdict> rules, const BpfTarget& otherwise) {
  return write_list(assembler, {.rules = rules, .otherwise = otherwise});
}

}  // namespace harn::plan

// SPDX-License-Identifier: Apache-2.0
// See bpf_assembler.h. Positions count from the end of the program.
#include "plan/syscalls/bpf_assembler.h"

#include <algorithm>

namespace harn::plan {
namespace {

constexpr std::uint16_t load_word = 0x20;     // BPF_LD | BPF_W | BPF_ABS
constexpr std::uint16_t and_constant = 0x54;  // BPF_ALU | BPF_AND | BPF_K
constexpr std::uint16_t jump_always = 0x05;   // BPF_JMP | BPF_JA
constexpr std::uint16_t return_value = 0x06;  // BPF_RET | BPF_K

// A conditional jump spans 255 instructions, and the stepping stone of its other way may come between.
constexpr std::size_t reach = 254;

}  // namespace

std::uint32_t BpfAssembler::write(const BpfInstruction& instruction) {
  reversed_.push_back(instruction);
  return static_cast<std::uint32_t>(reversed_.size() - 1);
}

std::uint32_t BpfAssembler::within_reach(const BpfTarget& target) {
  const auto near = [this](std::uint32_t position) { return reversed_.size() - position <= reach; };
  if (!target.is_verdict) {
    if (near(target.value)) return target.value;
    const auto span = static_cast<std::uint32_t>(reversed_.size() - target.value - 1);
    return write({.code = jump_always, .constant = span});
  }
  // A second return costs what a jump to the first would, and is one step shorter.
  const BpfInstruction back{.code = return_value, .constant = target.value};
  const auto known = std::ranges::find(returns_, target.value, &std::pair<std::uint32_t, std::uint32_t>::first);
  if (known == returns_.end()) return returns_.emplace_back(target.value, write(back)).second;
  if (!near(known->second)) known->second = write(back);
  return known->second;
}

BpfTarget BpfAssembler::branch(BpfJump jump, std::uint32_t value, const BpfBranch& to) {
  if (to.yes == to.no) return to.yes;
  const std::uint32_t yes = within_reach(to.yes);
  const std::uint32_t no = within_reach(to.no);
  const auto here = static_cast<std::uint32_t>(reversed_.size());
  write({.code = static_cast<std::uint16_t>(jump),
         .jump_true = static_cast<std::uint8_t>(here - yes - 1),
         .jump_false = static_cast<std::uint8_t>(here - no - 1),
         .constant = value});
  return {.is_verdict = false, .value = here};
}

BpfTarget BpfAssembler::fetch(const BpfWord& word) {
  if (word.mask != 0xffffffff) write({.code = and_constant, .constant = word.mask});
  return {.is_verdict = false, .value = write({.code = load_word, .constant = word.offset})};
}

BpfProgram BpfAssembler::finish() && {
  std::ranges::reverse(reversed_);
  return std::move(reversed_);
}

}  // namespace harn::plan

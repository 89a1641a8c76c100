// SPDX-License-Identifier: Apache-2.0
// Writes a classic BPF program from its last instruction to its first. Jumps only go forward, so
// every target exists when a jump to it is written: distances are known, verdicts are shared, and a
// target beyond the 8-bit reach of a conditional jump gets a stepping stone nearby.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "plan/syscalls/bpf.h"

namespace harn::plan {

enum class BpfJump : std::uint16_t {
  equal = 0x15,
  greater = 0x25,
  greater_equal = 0x35
};

// Somewhere to go: a verdict, or an instruction already written.
struct BpfTarget {
  bool is_verdict = true;
  std::uint32_t value = 0;  // the verdict, or the instruction's distance from the end

  bool operator==(const BpfTarget&) const = default;
};

// A word of struct seccomp_data under a mask.
struct BpfWord {
  std::uint32_t offset = 0;
  std::uint32_t mask = 0xffffffff;

  bool operator==(const BpfWord&) const = default;
};

struct BpfBranch {
  BpfTarget yes = {};
  BpfTarget no = {};
};

class BpfAssembler {
 public:
  // Writes a comparison of the accumulator; where both ways lead to one place, nothing.
  BpfTarget branch(BpfJump jump, std::uint32_t value, const BpfBranch& to);

  // Writes the loading of a word in front of the comparison written last.
  BpfTarget fetch(const BpfWord& word);

  std::size_t size() const { return reversed_.size(); }

  // The program, entered at the instruction written last.
  BpfProgram finish() &&;

 private:
  std::uint32_t write(const BpfInstruction& instruction);
  std::uint32_t within_reach(const BpfTarget& target);

  std::vector<BpfInstruction> reversed_ = {};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> returns_ = {};  // verdict, its nearest instruction
};

}  // namespace harn::plan

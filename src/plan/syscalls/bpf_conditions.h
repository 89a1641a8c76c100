// SPDX-License-Identifier: Apache-2.0
// Conditions on arguments to BPF: the rules of one system call, tried in order.
#pragma once

#include <span>

#include "harn/plan.h"
#include "plan/syscalls/bpf_assembler.h"

namespace harn::plan {

struct ConditionalVerdict {
  std::span<const ArgumentTest> when = {};
  std::uint32_t verdict = 0;
};

// Writes the first of `rules` whose tests all hold; where none does, control goes to `otherwise`.
BpfTarget write_rules(BpfAssembler& assembler, std::span<const ConditionalVerdict> rules, const BpfTarget& otherwise);

}  // namespace harn::plan

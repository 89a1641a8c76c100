// SPDX-License-Identifier: Apache-2.0
// SyscallFilter to classic BPF: the bytes the kernel is given. Pure and fast enough to run before
// every spawn; see docs/adr/0009-own-bpf-compiler.md for why this is not left to a library.
#pragma once

#include <cstdint>
#include <vector>

#include "harn/plan.h"

namespace harn::plan {

// The kernel's struct sock_filter.
struct BpfInstruction {
  std::uint16_t code = 0;
  std::uint8_t jump_true = 0;
  std::uint8_t jump_false = 0;
  std::uint32_t constant = 0;

  bool operator==(const BpfInstruction&) const = default;
};

using BpfProgram = std::vector<BpfInstruction>;

inline constexpr std::size_t max_bpf_instructions = 4096;  // BPF_MAXINSNS

// What the program answers, beyond the rules themselves:
//   another architecture than filter.arch                       kill the process
//   x86_64: a number with the x32 bit                           kill the process
//   a number above the newest Harn knows, and the number -1     ENOSYS
// Fails with not_supported for unknown architectures and names, argument indices above 5, errnos the
// kernel cannot return, and filters longer than max_bpf_instructions.
Result<BpfProgram> compile_filter(const SyscallFilter& filter);

}  // namespace harn::plan

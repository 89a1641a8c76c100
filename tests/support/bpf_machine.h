// SPDX-License-Identifier: Apache-2.0
// A classic BPF machine as the kernel has it for seccomp: the checks a program must pass to be
// installed, and its execution. Written from the kernel's rules, not from our compiler.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "plan/syscalls/bpf.h"

namespace harn::test {

// The kernel's struct seccomp_data.
struct SyscallEvent {
  std::uint32_t number = 0;
  std::uint32_t architecture = 0;
  std::uint64_t instruction_pointer = 0;
  std::array<std::uint64_t, 6> arguments = {};
};

struct BpfRun {
  std::uint32_t verdict = 0;
  unsigned steps = 0;           // instructions executed
  bool read_arguments = false;  // then the kernel cannot remember the answer for this number
};

// Empty when the kernel would install the program; else what it would object to.
std::string why_invalid(std::span<const plan::BpfInstruction> program);

// For a valid program.
BpfRun execute(std::span<const plan::BpfInstruction> program, const SyscallEvent& event);

}  // namespace harn::test

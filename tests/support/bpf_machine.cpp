// SPDX-License-Identifier: Apache-2.0
// The subset of classic BPF that seccomp accepts, minus scratch memory and the index register's
// arithmetic, which no filter here uses: a program with those is reported as invalid.
#include "support/bpf_machine.h"

#include <fmt/format.h>

namespace harn::test {
namespace {

enum Opcode : std::uint16_t {
  load_absolute = 0x20,
  and_k = 0x54,
  jump_always = 0x05,
  jump_equal_k = 0x15,
  jump_greater_k = 0x25,
  jump_greater_equal_k = 0x35,
  jump_set_k = 0x45,
  return_k = 0x06,
};

constexpr std::uint32_t event_size = 64;  // sizeof(struct seccomp_data)

bool is_conditional(std::uint16_t code) {
  return code == jump_equal_k || code == jump_greater_k || code == jump_greater_equal_k || code == jump_set_k;
}

std::string why_bad_instruction(std::span<const plan::BpfInstruction> program, std::size_t at) {
  const plan::BpfInstruction& instruction = program[at];
  const std::size_t left = program.size() - at - 1;  // instructions after this one
  switch (instruction.code) {
    case load_absolute:
      if (instruction.constant % 4 != 0 || instruction.constant >= event_size) return "loads outside the event";
      break;
    case and_k:
    case return_k: break;
    case jump_always:
      if (instruction.constant >= left) return "jumps past the end";
      break;
    default:
      if (!is_conditional(instruction.code)) return fmt::format("has the unknown code {:#x}", instruction.code);
      if (instruction.jump_true >= left || instruction.jump_false >= left) return "jumps past the end";
  }
  return {};
}

std::uint32_t word_at(const SyscallEvent& event, std::uint32_t offset) {
  if (offset == 0) return event.number;
  if (offset == 4) return event.architecture;
  const std::uint64_t whole = offset < 16 ? event.instruction_pointer : event.arguments[(offset - 16) / 8];
  return static_cast<std::uint32_t>(offset % 8 == 0 ? whole : whole >> 32);
}

bool jump_taken(const plan::BpfInstruction& instruction, std::uint32_t accumulator) {
  switch (instruction.code) {
    case jump_equal_k: return accumulator == instruction.constant;
    case jump_greater_k: return accumulator > instruction.constant;
    case jump_greater_equal_k: return accumulator >= instruction.constant;
    default: return (accumulator & instruction.constant) != 0;
  }
}

}  // namespace

std::string why_invalid(std::span<const plan::BpfInstruction> program) {
  if (program.empty() || program.size() > 4096) return fmt::format("it has {} instructions", program.size());
  for (std::size_t at = 0; at < program.size(); ++at)
    if (const std::string why = why_bad_instruction(program, at); !why.empty()) return fmt::format("instruction {} {}", at, why);
  if (program.back().code != return_k) return "it does not end with a return";
  return {};
}

BpfRun execute(std::span<const plan::BpfInstruction> program, const SyscallEvent& event) {
  BpfRun run;
  std::uint32_t accumulator = 0;
  for (std::size_t at = 0;; ++at) {
    const plan::BpfInstruction& instruction = program[at];
    ++run.steps;
    switch (instruction.code) {
      case load_absolute:
        accumulator = word_at(event, instruction.constant);
        run.read_arguments |= instruction.constant >= 8;
        break;
      case and_k: accumulator &= instruction.constant; break;
      case jump_always: at += instruction.constant; break;
      case return_k: run.verdict = instruction.constant; return run;
      default: at += jump_taken(instruction, accumulator) ? instruction.jump_true : instruction.jump_false;
    }
  }
}

}  // namespace harn::test

// SPDX-License-Identifier: Apache-2.0
// The compiler's corners: exact small programs, both halves of arguments, jumps beyond their reach,
// refusals, and the shape the kernel likes. tests/laws compares whole filters with their meaning.
#include "plan/syscalls/bpf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "plan/syscalls/syscalls.h"
#include "support/bpf_machine.h"
#include "support/syscall_model.h"

namespace harn::plan {
namespace {

using test::Random;
using test::SyscallEvent;

constexpr std::uint32_t x86_64 = 0xc000003e;
constexpr std::uint32_t aarch64 = 0xc00000b7;

std::uint32_t run(const BpfProgram& program, std::uint32_t number, std::array<std::uint64_t, 6> arguments = {}) {
  return test::execute(program, {.number = number, .architecture = x86_64, .arguments = arguments}).verdict;
}

TEST(Bpf, ChecksTheArchitectureBeforeTheNumber) {
  const auto program = compile_filter({.arch = "aarch64", .rules = {{.names = {"read"}}}});
  const BpfProgram expected{
      {0x20, 0, 0, 4},        // load the architecture
      {0x15, 1, 0, aarch64},  // ours?
      {0x06, 0, 0, test::kill_process},
      {0x20, 0, 0, 0},    // load the number
      {0x35, 0, 1, 471},  // newer than every known call?
      {0x06, 0, 0, test::fails_with(ENOSYS)},
      {0x15, 1, 0, 63},  // read?
      {0x06, 0, 0, test::fails_with(EPERM)},
      {0x06, 0, 0, test::allow},
  };
  ASSERT_TRUE(program);
  EXPECT_EQ(*program, expected);
}

TEST(Bpf, AFilterThatAnswersEverythingAlikeNeedsNoTree) {
  const auto program = compile_filter({.arch = "riscv64", .otherwise_error = ENOSYS});
  ASSERT_TRUE(program);
  EXPECT_EQ(program->size(), 4U);
  EXPECT_EQ(test::execute(*program, {.number = 63, .architecture = 0xc00000f3}).verdict, test::fails_with(ENOSYS));
}

TEST(Bpf, EveryActionHasItsVerdict) {
  const auto program = compile_filter({.arch = "x86_64",
                                       .otherwise = SyscallAction::kill,
                                       .rules = {{.names = {"read"}},
                                                 {.names = {"write"}, .action = SyscallAction::errno_, .error = 4095},
                                                 {.names = {"connect"}, .action = SyscallAction::notify}}});
  ASSERT_TRUE(program);
  EXPECT_EQ(run(*program, 0), test::allow);
  EXPECT_EQ(run(*program, 1), test::fails_with(4095));
  EXPECT_EQ(run(*program, 42), test::notify);
  EXPECT_EQ(run(*program, 2), test::kill_process);
}

TEST(Bpf, TheFirstRuleWhoseTestsHoldDecides) {
  const SyscallFilter filter{
      .arch = "x86_64",
      .rules = {{.names = {"read"}, .when = {{.index = 0, .value = 3}, {.index = 2, .value = 9}}},
                {.names = {"read"}, .when = {{.index = 0, .value = 3}}, .action = SyscallAction::errno_, .error = EBADF},
                {.names = {"read"}, .action = SyscallAction::kill},
                {.names = {"read"}}}};
  const auto program = compile_filter(filter);
  ASSERT_TRUE(program);
  EXPECT_EQ(run(*program, 0, {3, 0, 9}), test::allow);
  EXPECT_EQ(run(*program, 0, {3, 0, 8}), test::fails_with(EBADF));
  EXPECT_EQ(run(*program, 0, {4, 0, 9}), test::kill_process);
}

// Every comparison against every pair of values that differ in one half, both or none, masked and not.
TEST(Bpf, ComparisonsSeeBothHalvesOfAnArgument) {
  constexpr std::uint64_t values[] = {0,           1,           0x7fffffff,         0x80000000,         0xffffffff,       0x100000000,
                                      0x100000001, 0x1ffffffff, 0x8000000000000000, 0xffffffff00000000, ~std::uint64_t{0}};
  constexpr std::uint64_t masks[] = {~std::uint64_t{0}, 0xffffffff, 0xffffffff00000000, 0x180000001, 1, 0};
  for (const std::uint64_t mask : masks)
    for (const std::uint64_t bound : values)
      for (unsigned compare = 0; compare < 6; ++compare) {
        const ArgumentTest test{.index = 5, .mask = mask, .compare = static_cast<Compare>(compare), .value = bound};
        const SyscallFilter filter{.arch = "x86_64", .rules = {{.names = {"read"}, .when = {test}}}};
        const auto program = compile_filter(filter);
        ASSERT_TRUE(program);
        ASSERT_EQ(test::why_invalid(*program), "");
        for (const std::uint64_t value : values) {
          const SyscallEvent event{.number = 0, .architecture = x86_64, .arguments = {9, 9, 9, 9, 9, value}};
          EXPECT_EQ(test::execute(*program, event).verdict, test::meaning(filter, event))
              << std::hex << value << " & " << mask << " against " << bound << ", comparison " << compare;
        }
      }
}

// `count` rules for one call, each with a condition of its own.
SyscallFilter long_filter(std::uint64_t count) {
  SyscallFilter filter{.arch = "x86_64", .rules = {{.names = {"close"}}}};
  for (std::uint64_t i = 0; i < count; ++i)
    filter.rules.push_back({.names = {i % 2 == 0 ? "read" : "write"},
                            .when = {{.index = 0, .value = i}, {.index = 1, .compare = Compare::greater, .value = i << 32}}});
  return filter;
}

TEST(Bpf, TargetsBeyondTheReachOfAJumpGetSteppingStones) {
  Random random(21);
  for (const std::uint64_t count : {30U, 32U, 34U, 60U, 200U, 450U}) {
    const SyscallFilter filter = long_filter(count);
    const auto program = compile_filter(filter);
    ASSERT_TRUE(program) << describe(program.error());
    ASSERT_EQ(test::why_invalid(*program), "");
    for (std::uint32_t number : {0U, 1U, 2U, 3U, 470U, 471U, 0x40000000U})
      for (std::uint64_t i = 0; i < 2 * count; ++i) {
        SyscallEvent event = test::random_event(random, filter, number);
        if (i % 3 != 0) event.arguments[0] = i / 2;
        ASSERT_EQ(test::execute(*program, event).verdict, test::meaning(filter, event)) << number << ' ' << i;
      }
  }
  const auto program = compile_filter(long_filter(450));
  EXPECT_GT(program->size(), 2'000U);
  EXPECT_TRUE(std::ranges::any_of(*program, [](const BpfInstruction& i) { return i.code == 0x05 && i.constant > 255; }));
}

TEST(Bpf, RefusesFiltersTheKernelWouldNotTake) {
  const auto message = [](const SyscallFilter& filter) {
    const auto program = compile_filter(filter);
    return program ? std::string("compiled") : program.error().message;
  };
  const std::string too_long = "the system call filter needs more than the 4096 instructions the kernel takes";
  EXPECT_EQ(message({.arch = "mips"}), "no system call filter can be made for the architecture 'mips'");
  EXPECT_EQ(message({.arch = "aarch64", .rules = {{.names = {"fork"}}}}), "there is no system call 'fork' on this architecture");
  EXPECT_EQ(message({.arch = "x86_64", .rules = {{.names = {"read"}, .when = {{.index = 6}}}}}),
            "a system call has only six arguments, numbered 0 to 5");
  EXPECT_EQ(message({.arch = "x86_64", .otherwise_error = 0}), "a filter cannot fail a system call with errno 0");
  EXPECT_EQ(message({.arch = "x86_64", .rules = {{.names = {"read"}, .action = SyscallAction::errno_, .error = 4096}}}),
            "a filter cannot fail a system call with errno 4096");
  EXPECT_EQ(message(long_filter(900)), too_long) << "too many instructions";
  EXPECT_EQ(message(long_filter(100'000)), too_long) << "too many tests to try";
}

// The kernel remembers the answer for numbers that need no arguments (5.11), and runs the filter for
// each number once at installation: short, shallow, and reading arguments only where it must.
TEST(Bpf, ShippedFiltersAreShortShallowAndReadFewArguments) {
  for (const char* arch : {"x86_64", "aarch64", "riscv64"}) {
    const auto filter = plan_syscalls({.arch = arch, .network = NetworkReach::unrestricted, .unix_full = true, .metadata = true});
    const auto program = compile_filter(*filter);
    ASSERT_TRUE(program);
    EXPECT_LE(program->size(), 260U) << arch;
    std::set<std::uint32_t> conditional;
    for (const SyscallRule& rule : filter->rules)
      for (const std::string& name : rule.names)
        if (!rule.when.empty()) conditional.insert(*test::number_of(name, arch));
    unsigned steps = 0;
    for (std::uint32_t number = 0; number <= 470; ++number) {
      const auto run = test::execute(*program, {.number = number, .architecture = test::audit_architecture(arch)});
      EXPECT_LE(run.steps, 24U) << arch << ' ' << number;
      EXPECT_EQ(run.read_arguments, conditional.contains(number)) << arch << ' ' << number;
      steps += run.steps;
    }
    EXPECT_LT(steps / 471, 12U) << arch;
  }
}

}  // namespace
}  // namespace harn::plan

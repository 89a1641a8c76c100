// SPDX-License-Identifier: Apache-2.0
// The bytes the kernel gets mean what the filter says: the compiled program, run by an independent
// machine, against the plain reading of the rules, for every shipped filter and for generated ones.
#include <gtest/gtest.h>

#include <set>

#include <fmt/format.h>

#include "plan/names.h"
#include "plan/syscalls/bpf.h"
#include "plan/syscalls/syscalls.h"
#include "support/bpf_machine.h"
#include "support/cases.h"
#include "support/syscall_model.h"

namespace harn::test {
namespace {

constexpr std::string_view architectures[] = {"x86_64", "aarch64", "riscv64"};
constexpr std::uint32_t strange_numbers[] = {471, 600, 0x3fffffff, 0x40000000, 0x40000029, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};

std::string describe(const SyscallEvent& event) {
  return fmt::format("call {} of {:#x} ({:#x})", event.number, event.architecture, fmt::join(event.arguments, ", "));
}

// True when the program answers as the filter says; else says how not.
bool agrees(const SyscallFilter& filter, const plan::BpfProgram& program, const SyscallEvent& event) {
  const std::uint32_t expected = meaning(filter, event);
  const std::uint32_t actual = execute(program, event).verdict;
  if (actual != expected) ADD_FAILURE() << fmt::format("{}: program {:#x}, filter {:#x}", describe(event), actual, expected);
  return actual == expected;
}

plan::SyscallOptions options_from(unsigned bits, std::string_view arch) {
  return {.arch = std::string(arch),
          .network = static_cast<plan::NetworkReach>(bits & 3),
          .private_network = (bits & 128) != 0,
          .unix_full = (bits & 4) != 0,
          .unix_datagrams = (bits & 4) != 0,
          .private_ipc = (bits & 8) != 0,
          .private_pids = (bits & 16) != 0,
          .metadata = (bits & 32) != 0,
          .truncation_checked = (bits & 64) != 0};
}
constexpr unsigned option_sets = 256;

std::set<std::uint32_t> numbers_with_conditions(const SyscallFilter& filter) {
  std::set<std::uint32_t> numbers;
  for (const SyscallRule& rule : filter.rules)
    for (const std::string& name : rule.names)
      if (!rule.when.empty()) numbers.insert(*number_of(name, filter.arch));
  return numbers;
}

void check_shipped(const SyscallFilter& filter, Random& random) {
  const auto program = plan::compile_filter(filter);
  ASSERT_TRUE(program) << describe(program.error());
  ASSERT_EQ(why_invalid(*program), "");
  for (std::uint32_t number = 0; number <= 600; ++number) ASSERT_TRUE(agrees(filter, *program, random_event(random, filter, number)));
  for (const std::uint32_t number : numbers_with_conditions(filter))
    for (int i = 0; i < 40; ++i) ASSERT_TRUE(agrees(filter, *program, random_event(random, filter, number)));
  for (const std::uint32_t number : strange_numbers) ASSERT_TRUE(agrees(filter, *program, random_event(random, filter, number)));
}

TEST(SyscallAgreement, EveryShippedFilterMeansTheSameInBpf) {
  Random random(1);
  const std::size_t stride = fewer_cases() ? 30 : 5;
  for (const std::string_view arch : architectures)
    for (unsigned bits = 0; bits < option_sets; bits += 1 + static_cast<unsigned>(random.below(stride))) {
      const auto filter = plan::plan_syscalls(options_from(bits, arch));
      ASSERT_TRUE(filter) << describe(filter.error());
      check_shipped(*filter, random);
      if (HasFatalFailure()) return;
    }
}

TEST(SyscallAgreement, GeneratedFiltersMeanTheSameInBpf) {
  Random random(2);
  for (int i = 0; i < cases_of(10'000); ++i) {
    const SyscallFilter filter = random_filter(random, architectures[random.below(3)]);
    const auto program = plan::compile_filter(filter);
    ASSERT_TRUE(program) << describe(program.error());
    ASSERT_EQ(why_invalid(*program), "");
    for (const SyscallRule& rule : filter.rules)
      for (const std::string& name : rule.names)
        ASSERT_TRUE(agrees(filter, *program, random_event(random, filter, *number_of(name, filter.arch)))) << "case " << i;
    const auto other = static_cast<std::uint32_t>(random.below(601));
    ASSERT_TRUE(agrees(filter, *program, random_event(random, filter, other))) << "case " << i;
    const std::uint32_t strange = strange_numbers[random.below(std::size(strange_numbers))];
    ASSERT_TRUE(agrees(filter, *program, random_event(random, filter, strange))) << "case " << i;
  }
}

// A call one filter allows is allowed by every filter of a host and policy that grant more.
TEST(SyscallAgreement, GrantingLessNeverAllowsMore) {
  Random random(3);
  for (int i = 0; i < cases_of(200); ++i) {
    const std::string_view arch = architectures[random.below(3)];
    const auto more_bits = static_cast<unsigned>(random.below(option_sets));
    const unsigned less_bits = more_bits & static_cast<unsigned>(random.below(option_sets));
    const auto more = plan::plan_syscalls(options_from(more_bits, arch));
    const auto less = plan::plan_syscalls(options_from(less_bits, arch));
    ASSERT_TRUE(more && less);
    for (std::uint32_t number = 0; number <= 471; ++number) {
      const SyscallEvent event = random_event(random, *less, number);
      if (meaning(*less, event) != allow) continue;
      ASSERT_EQ(meaning(*more, event), allow) << describe(event) << " options " << less_bits << " and " << more_bits;
    }
  }
}

}  // namespace
}  // namespace harn::test

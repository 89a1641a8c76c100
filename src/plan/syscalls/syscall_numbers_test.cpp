// SPDX-License-Identifier: Apache-2.0
// A wrong number in assets/syscalls would open or close the wrong call without any other sign, so
// every pair is compared with a table that somebody else keeps.
#include "plan/syscalls/syscall_tables.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include <seccomp.h>

#include "harn_syscall_assets.h"

namespace harn::plan {
namespace {

TEST(SyscallNumbers, AreThoseOfLibseccomp) {
  constexpr std::uint32_t tokens[] = {SCMP_ARCH_X86_64, SCMP_ARCH_AARCH64, SCMP_ARCH_RISCV64};
  int compared = 0;
  for (const SyscallNumber& row : tables::numbers)
    for (std::size_t i = 0; i < architecture_count; ++i) {
      const int theirs = seccomp_syscall_resolve_name_arch(tokens[i], std::string(row.name).c_str());
      if (theirs == __NR_SCMP_ERROR) continue;  // newer than the installed library
      ++compared;
      EXPECT_EQ(theirs < 0 ? -1 : theirs, row.number[i]) << row.name << " on " << tables::architectures[i];
    }
  EXPECT_GT(compared, 1'000);
}

TEST(SyscallNumbers, BelongToOneNameEach) {
  for (std::size_t i = 0; i < architecture_count; ++i) {
    std::set<int> seen;
    int calls = 0;
    for (const SyscallNumber& row : tables::numbers) {
      if (row.number[i] < 0) continue;
      ++calls;
      EXPECT_TRUE(seen.insert(row.number[i]).second) << row.name;
    }
    EXPECT_GT(calls, 300);
  }
}

TEST(SyscallNumbers, AreFoundByNameAndArchitecture) {
  EXPECT_EQ(find_architecture("aarch64"), 1U);
  EXPECT_EQ(find_architecture("AArch64"), std::nullopt);
  EXPECT_EQ(find_syscall("openat", 0), 257U);
  EXPECT_EQ(find_syscall("openat", 1), 56U);
  EXPECT_EQ(find_syscall("open", 1), std::nullopt);
  EXPECT_EQ(find_syscall("opena", 0), std::nullopt);
  EXPECT_EQ(find_syscall("zzz", 0), std::nullopt);
  EXPECT_EQ(newest_syscall(2), 470U);
}

}  // namespace
}  // namespace harn::plan

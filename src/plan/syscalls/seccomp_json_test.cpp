// SPDX-License-Identifier: Apache-2.0
// A container profile has no order and no "unless": that the translation allows what the filter
// allows is checked against a literal model of the JSON and against libseccomp's own reading.
#include "plan/syscalls/seccomp_json.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "plan/syscalls/argument_boxes.h"
#include "plan/syscalls/syscalls.h"
#include "support/docker_seccomp.h"
#include "support/syscall_model.h"

namespace harn::plan {
namespace {

using test::DockerProfile;
using test::Random;
using test::SyscallEvent;

const SyscallOptions container{.network = NetworkReach::none,
                               .unix_full = true,
                               .private_ipc = true,
                               .private_pids = true,
                               .metadata = true,
                               .truncation_checked = true};

DockerProfile profile_of(const SyscallFilter& filter) {
  const auto json = seccomp_json(filter);
  EXPECT_TRUE(json) << describe(json.error());
  return test::read_profile(*json);
}

std::string expected_verdict(std::uint32_t meaning) { return meaning == test::allow ? "allow" : std::to_string(meaning & 0xffff); }

TEST(SeccompJson, PrintsOneLinePerAlternative) {
  const SyscallFilter filter{
      .arch = "x86_64",
      .rules = {{.names = {"clone3"}, .action = SyscallAction::errno_, .error = 38},
                {.names = {"mknod"}, .when = {{.index = 1, .mask = 0xb000, .value = 0x2000}}, .action = SyscallAction::errno_, .error = 1},
                {.names = {"mknod", "read", "write"}},
                {.names = {"personality"}, .when = {{.index = 0, .value = 0}}}}};
  EXPECT_EQ(*seccomp_json(filter), R"({
  "defaultAction": "SCMP_ACT_ERRNO",
  "defaultErrnoRet": 1,
  "archMap": [{"architecture": "SCMP_ARCH_X86_64", "subArchitectures": []}],
  "syscalls": [
    {"names": ["read", "write"], "action": "SCMP_ACT_ALLOW"},
    {"names": ["mknod"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 1, "value": 32768, "valueTwo": 32768, "op": "SCMP_CMP_MASKED_EQ"}]},
    {"names": ["mknod"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 1, "value": 40960, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}]},
    {"names": ["mknod"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 1, "value": 45056, "valueTwo": 12288, "op": "SCMP_CMP_MASKED_EQ"}]},
    {"names": ["personality"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0, "value": 0, "op": "SCMP_CMP_EQ"}]},
    {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38}
  ]
}
)");
}

TEST(SeccompJson, ShippedFiltersAllowExactlyWhatTheyAllowInBpf) {
  Random random(11);
  for (const char* arch : {"x86_64", "aarch64", "riscv64"})
    for (const NetworkReach network : {NetworkReach::none, NetworkReach::unrestricted}) {
      SyscallOptions options = container;
      options.arch = arch;
      options.network = network;
      const auto filter = plan_syscalls(options);
      ASSERT_TRUE(filter);
      const DockerProfile profile = profile_of(*filter);
      EXPECT_FALSE(profile.looks_twice());
      for (const SyscallRule& rule : filter->rules)
        for (const std::string& name : rule.names)
          for (int i = rule.when.empty() ? 1 : 50; i > 0; --i) {
            const SyscallEvent event = test::random_event(random, *filter, *test::number_of(name, arch));
            ASSERT_EQ(profile.verdict(name, event.arguments), expected_verdict(test::meaning(*filter, event)))
                << name << fmt::format(" {:#x}", fmt::join(event.arguments, ", "));
          }
      EXPECT_EQ(profile.verdict("io_uring_setup", {}), "1");
    }
}

// libseccomp 2.5.4, the oldest in use, knows no calls after Linux 5.17.
constexpr std::uint32_t newest_for_libseccomp = 448;
constexpr std::uint32_t uretprobe = 335;
constexpr std::uint32_t uprobe = 336;

TEST(SeccompJson, LibseccompReadsShippedProfilesTheSameWay) {
  Random random(12);
  for (const char* arch : {"x86_64", "aarch64"}) {
    SyscallOptions options = container;
    options.arch = arch;
    options.network = NetworkReach::unrestricted;
    const auto filter = plan_syscalls(options);
    ASSERT_TRUE(filter);
    const auto program = test::compile_with_libseccomp(profile_of(*filter));
    ASSERT_EQ(test::why_invalid(program), "");
    for (std::uint32_t number = 0; number <= newest_for_libseccomp; ++number)
      for (int i = 0; i < 60 && number != uretprobe && number != uprobe; ++i) {
        const SyscallEvent event = test::random_event(random, *filter, number);
        ASSERT_EQ(test::execute(program, event).verdict, test::meaning(*filter, event))
            << number << fmt::format(" {:#x}", fmt::join(event.arguments, ", "));
      }
  }
}

// Tries each call of a generated filter; `exact` says that nothing may be lost either.
void compare_generated(const SyscallFilter& filter, Random& random, bool exact) {
  const DockerProfile profile = profile_of(filter);
  ASSERT_FALSE(profile.looks_twice());
  for (const SyscallRule& rule : filter.rules)
    for (const std::string& name : rule.names) {
      const SyscallEvent event = test::random_event(random, filter, *test::number_of(name, filter.arch));
      const bool allows = test::meaning(filter, event) == test::allow;
      const std::string verdict = profile.verdict(name, event.arguments);
      ASSERT_NE(verdict, "ambiguous") << name;
      ASSERT_TRUE(allows || verdict != "allow") << name << " gained";
      ASSERT_TRUE(!allows || !exact || verdict == "allow") << name << " lost";
    }
}

TEST(SeccompJson, GeneratedFiltersNeverGain) {
  Random random(13);
  for (int i = 0; i < 400 && !HasFatalFailure(); ++i)
    compare_generated(test::random_filter(random, i % 2 == 0 ? "x86_64" : "aarch64"), random, /*exact=*/false);
}

TEST(SeccompJson, GeneratedFiltersOnOneIntegerAreExact) {
  Random random(14);
  for (int i = 0; i < 400 && !HasFatalFailure(); ++i) {
    SyscallFilter filter = test::random_filter(random, "x86_64");
    for (SyscallRule& rule : filter.rules) {
      if (rule.when.size() > 1) rule.when.resize(1);
      for (ArgumentTest& test : rule.when) test = {.index = 2, .mask = 0xffffffff, .value = test.value};
    }
    compare_generated(filter, random, /*exact=*/true);
  }
}

TEST(SeccompJson, RefusesWhatItCannotName) {
  EXPECT_EQ(seccomp_json({.arch = "m68k"}).error().message, "no seccomp profile can be made for the architecture 'm68k'");
  EXPECT_EQ(seccomp_json({.arch = "aarch64", .rules = {{.names = {"open"}}}}).error().message, "there is no system call 'open' on aarch64");
  EXPECT_EQ(seccomp_json({.arch = "x86_64", .rules = {{.names = {"read"}, .when = {{.index = 6}}}}}).error().message,
            "a system call has only six arguments, numbered 0 to 5");
}

TEST(SeccompJson, AnAllowingDefaultBecomesARefusingOne) {
  const DockerProfile profile = profile_of({.arch = "x86_64", .otherwise = SyscallAction::allow, .rules = {{.names = {"read"}}}});
  EXPECT_EQ(profile.verdict("read", {}), "allow");
  EXPECT_EQ(profile.verdict("write", {}), "1");
}

TEST(ArgumentBoxes, GiveUpInsteadOfGrowingWithoutEnd) {
  std::vector<ArgumentTest> tests;
  for (unsigned i = 0; i < 3; ++i) tests.push_back({.index = i, .compare = Compare::not_equal, .value = 7});
  EXPECT_EQ(boxes_where(std::span(tests).first(1))->size(), 64U);
  EXPECT_EQ(boxes_where(tests), std::nullopt);
}

}  // namespace
}  // namespace harn::plan

// SPDX-License-Identifier: Apache-2.0
#include "plan/linux/supervisor.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/linux_plans.h"

namespace harn::plan {
namespace {

using test::codes;
using test::confinement;
using test::lowered;
using test::quiet_policy;
using test::text_of;

HostFacts host(int abi = 7) {
  auto facts = test::without_namespaces(abi);
  facts.linux.seccomp_notify = true;
  return facts;
}

bool traps(const Plan& plan, std::string_view name) {
  return std::ranges::any_of(confinement(plan).syscalls->rules, [&](const SyscallRule& rule) {
    return rule.action == SyscallAction::notify && std::ranges::find(rule.names, name) != rule.names.end();
  });
}

TEST(Supervisor, ClosesWhatLandlockCannotSay) {
  auto policy = quiet_policy();
  policy.read_only_roots = {{AbsPath::of("/w/fixed")}};
  const auto plan = lowered(policy, host());
  ASSERT_TRUE(confinement(plan).supervisor);
  EXPECT_FALSE(confinement(plan).supervisor->reads);
  EXPECT_EQ(text_of(plan.coverage, Dimension::writes), "enforced landlock supervisor");
  EXPECT_EQ(codes(plan.coverage, Dimension::writes), std::vector<std::string>{});
  EXPECT_EQ(text_of(plan.coverage, Dimension::metadata), "degraded supervisor");
  EXPECT_EQ(codes(plan.coverage, Dimension::metadata), std::vector<std::string>{"metadata_visible"});
  EXPECT_TRUE(traps(plan, "openat"));
  EXPECT_TRUE(traps(plan, "renameat2"));
  EXPECT_TRUE(traps(plan, "fchmodat"));
}

TEST(Supervisor, OpensForReadingOnlyWhereSomethingInsideAGrantIsDenied) {
  auto policy = quiet_policy();
  policy.process_sandbox.read_deny_roots = {AbsPath::of("/w/secret")};
  const auto plan = lowered(policy, host());
  ASSERT_TRUE(confinement(plan).supervisor);
  EXPECT_TRUE(confinement(plan).supervisor->reads);
  EXPECT_EQ(text_of(plan.coverage, Dimension::reads), "degraded landlock supervisor");
  EXPECT_EQ(codes(plan.coverage, Dimension::reads), std::vector<std::string>{"nested_execute"});
}

TEST(Supervisor, IsNotThereWhereNothingNeedsIt) {
  auto policy = quiet_policy();
  policy.workspace_roots.emplace();
  policy.read_only_roots = {{AbsPath::of("/w")}};
  const auto plan = lowered(policy, host());
  EXPECT_FALSE(confinement(plan).supervisor);
  EXPECT_FALSE(traps(plan, "openat"));
}

TEST(Supervisor, IsNotThereWithAViewOrWithoutAListenerOrAFilterOrLandlock) {
  const auto policy = quiet_policy();
  auto viewed = host();
  viewed.linux.user_namespaces = viewed.linux.pid_namespaces = true;
  EXPECT_FALSE(confinement(lowered(policy, viewed)).supervisor);
  auto taken = host();
  taken.linux.seccomp_notify = false;
  const auto plan = lowered(policy, taken);
  EXPECT_FALSE(confinement(plan).supervisor);
  EXPECT_EQ(codes(plan.coverage, Dimension::metadata), (std::vector<std::string>{"metadata_visible", "metadata_outside"}));
  auto unfiltered = host();
  unfiltered.linux.seccomp = false;
  EXPECT_FALSE(confinement(lowered(policy, unfiltered)).supervisor);
}

TEST(Supervisor, ADomainOfTheCommandsOwnWouldNotBindIt) {
  const auto plan = lowered(quiet_policy(), host());
  const auto& rules = confinement(plan).syscalls->rules;
  const auto names = [](const SyscallRule& rule) { return std::ranges::find(rule.names, "landlock_restrict_self") != rule.names.end(); };
  const auto found = std::ranges::find_if(rules, names);
  ASSERT_NE(found, rules.end());
  EXPECT_EQ(found->action, SyscallAction::errno_);
}

TEST(Supervisor, DecidesTruncationOnOldKernels) {
  const auto plan = lowered(quiet_policy(), host(2));
  EXPECT_TRUE(traps(plan, "truncate"));
  EXPECT_EQ(codes(plan.coverage, Dimension::writes), std::vector<std::string>{});
}

TEST(Supervisor, NamesAreAGapAgainWhereItCannotBindSockets) {
  auto policy = quiet_policy();
  policy.unprotect = {};
  auto facts = host(9);
  facts.unlisted = PathKind::missing;
  facts.paths["/w"] = {.kind = PathKind::directory};
  const auto with_sockets = lowered(policy, facts);
  EXPECT_EQ(codes(with_sockets.coverage, Dimension::writes), std::vector<std::string>{"absent_protected_name"});
  facts.linux.pidfd_getfd = true;
  const auto bound = lowered(policy, facts);
  EXPECT_EQ(codes(bound.coverage, Dimension::writes), std::vector<std::string>{});
  EXPECT_TRUE(traps(bound, "bind"));
  EXPECT_FALSE(traps(bound, "connect"));  // Landlock decides
  facts.linux.landlock_abi = 7;
  EXPECT_EQ(codes(lowered(policy, facts).coverage, Dimension::writes), std::vector<std::string>{});
}

TEST(Supervisor, ConnectsForTheCommand) {
  auto facts = host();
  facts.linux.pidfd_getfd = true;
  auto policy = quiet_policy();
  const auto plan = lowered(policy, facts);
  EXPECT_TRUE(traps(plan, "bind") && traps(plan, "connect"));
  EXPECT_FALSE(traps(plan, "sendmsg") || traps(plan, "sendto"));
  EXPECT_EQ(text_of(plan.coverage, Dimension::unix_sockets), "enforced supervisor");
  EXPECT_TRUE(confinement(plan).supervisor->abstract_names);

  policy.process_sandbox.unix_sockets = {{AbsPath::of("/srv/log")}};
  facts.paths["/srv/log"] = {.kind = PathKind::socket, .datagram = true};
  const auto datagrams = lowered(policy, facts);
  EXPECT_TRUE(traps(datagrams, "sendmsg") && traps(datagrams, "sendto") && traps(datagrams, "sendmmsg"));
  EXPECT_EQ(confinement(datagrams).supervisor->sockets, std::vector<AbsPath>{AbsPath::of("/srv/log")});
}

TEST(Supervisor, DecidesAboutSignalsAndDevicesOnOldKernels) {
  auto facts = host(4);
  facts.linux.pidfd_getfd = true;
  const auto old = lowered(quiet_policy(), facts);
  for (const auto* name : {"kill", "tkill", "tgkill", "pidfd_send_signal", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "fcntl"})
    EXPECT_TRUE(traps(old, name)) << name;
  EXPECT_EQ(text_of(old.coverage, Dimension::signals), "enforced supervisor");
  EXPECT_EQ(codes(old.coverage, Dimension::devices), std::vector<std::string>{});
  EXPECT_FALSE(confinement(old).supervisor->abstract_names);
  facts.linux.landlock_abi = 6;
  EXPECT_FALSE(traps(lowered(quiet_policy(), facts), "kill"));
}

TEST(Supervisor, ExplainsBesideAViewWithoutDecidingAnything) {
  auto facts = test::modern_host();
  facts.linux.seccomp_notify = true;
  auto policy = quiet_policy();
  EXPECT_FALSE(confinement(lowered(policy, facts)).supervisor);
  const auto plan = lowered(policy, facts, /*explain=*/true);
  const auto& supervisor = confinement(plan).supervisor;
  ASSERT_TRUE(supervisor);
  EXPECT_TRUE(supervisor->explains && !supervisor->reads && !supervisor->decides);
  EXPECT_TRUE(traps(plan, "openat") && traps(plan, "execve"));
  EXPECT_EQ(confinement(plan).syscalls->otherwise, SyscallAction::notify);
  EXPECT_EQ(text_of(plan.coverage, Dimension::writes), text_of(lowered(policy, facts).coverage, Dimension::writes));
  facts.linux.seccomp_notify = false;
  EXPECT_FALSE(confinement(lowered(policy, facts, /*explain=*/true)).supervisor);
}

TEST(Supervisor, WithoutAViewExplainsWhatItDecides) {
  const auto plan = lowered(quiet_policy(), host(), /*explain=*/true);
  const auto& supervisor = confinement(plan).supervisor;
  ASSERT_TRUE(supervisor);
  EXPECT_TRUE(supervisor->explains && !supervisor->reads && supervisor->decides);
  EXPECT_TRUE(traps(plan, "openat"));
}

}  // namespace
}  // namespace harn::plan

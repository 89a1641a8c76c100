// SPDX-License-Identifier: Apache-2.0
#include "plan/linux/linux_coverage.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/linux_plans.h"

namespace harn::plan {
namespace {

using namespace harn::test;

struct Row {
  Dimension dimension;
  const char* status;
  std::vector<std::string> gaps = {};
};

void expect_rows(const Coverage& coverage, const std::vector<Row>& rows) {
  for (const auto& row : rows) {
    EXPECT_EQ(text_of(coverage, row.dimension), row.status) << base::enum_name(row.dimension);
    EXPECT_EQ(codes(coverage, row.dimension), row.gaps) << base::enum_name(row.dimension);
  }
}

TEST(LinuxCoverage, AModernHostHoldsEverythingTwice) {
  const auto plan = lowered(quiet_policy(), modern_host());
  expect_rows(plan.coverage, {{Dimension::reads, "enforced view landlock"},
                              {Dimension::writes, "enforced view landlock"},
                              {Dimension::credential_reads, "enforced view landlock"},
                              {Dimension::metadata, "enforced view"},
                              {Dimension::network, "enforced landlock seccomp"},
                              {Dimension::unix_sockets, "enforced view landlock"},
                              {Dimension::signals, "enforced view landlock"},
                              {Dimension::process_inspection, "enforced view landlock seccomp"},
                              {Dimension::devices, "enforced view landlock"}});
  EXPECT_EQ(plan.coverage.gaps, std::vector<Gap>{});
  EXPECT_TRUE(confinement(plan).syscalls);
  EXPECT_TRUE(confinement(plan).no_new_privileges && confinement(plan).drop_capabilities);
}

TEST(LinuxCoverage, WithoutNamespacesTheRestIsNamed) {
  auto policy = quiet_policy();
  policy.read_only_roots = {AbsPath::of("/w/docs"), AbsPath::of("/srv")};
  policy.process_sandbox.read_deny_roots = {AbsPath::of("/srv/key"), AbsPath::of("/w/key")};
  const auto plan = lowered(policy, without_namespaces(5));
  EXPECT_FALSE(confinement(plan).view);
  expect_rows(plan.coverage, {{Dimension::reads, "not_enforced landlock", {"nested_deny"}},
                              {Dimension::writes, "not_enforced landlock", {"nested_read_only", "nested_deny"}},
                              {Dimension::credential_reads, "enforced landlock"},
                              {Dimension::metadata, "not_enforced", {"metadata_visible", "metadata_outside"}},
                              {Dimension::network, "enforced landlock seccomp"},
                              {Dimension::unix_sockets, "enforced seccomp"},
                              {Dimension::signals, "not_enforced", {"signals_outside"}},
                              {Dimension::process_inspection, "degraded landlock seccomp", {"process_listing"}},
                              {Dimension::devices, "enforced landlock"}});
  EXPECT_EQ(plan.coverage.gaps[0].paths, (std::vector{AbsPath::of("/srv/key"), AbsPath::of("/w/key")}));
  EXPECT_EQ(plan.coverage.gaps[1].paths, std::vector{AbsPath::of("/w/docs")});
  EXPECT_EQ(plan.coverage.gaps[2].paths, std::vector{AbsPath::of("/w/key")});
}

TEST(LinuxCoverage, WhatTheFileItselfClosesIsNoGapBeneathAReadablePlace) {
  auto policy = quiet_policy();
  policy.read_only_roots = {AbsPath::of("/srv")};
  policy.process_sandbox.read_deny_roots = {AbsPath::of("/srv/key"), AbsPath::of("/w/key")};
  auto facts = without_namespaces(5);
  facts.paths["/srv/key"].locked = facts.paths["/w/key"].locked = true;
  // In a writable place it could be moved away, so that stays a gap.
  EXPECT_EQ(lowered(policy, facts).coverage.gaps[0].paths, std::vector{AbsPath::of("/w/key")});
}

TEST(LinuxCoverage, TheViewClosesWhatLandlockCannot) {
  auto policy = quiet_policy();
  policy.workspace_roots = {AbsPath::of("/home/u")};
  policy.unprotect = {AbsPath::of("/home/u")};
  policy.read_only_roots = {AbsPath::of("/home/u/docs")};
  const auto plan = lowered(policy, modern_host());
  expect_rows(
      plan.coverage,
      {{Dimension::reads, "enforced view landlock"}, {Dimension::writes, "enforced view"}, {Dimension::credential_reads, "enforced view"}});
}

TEST(LinuxCoverage, OlderAbisOpenMoreGaps) {
  const struct {
    int abi;
    const char* writes;
    const char* network;
    const char* signals;
    const char* devices;
  } table[] = {
      {1, "enforced landlock seccomp", "enforced seccomp", "not_enforced", "degraded landlock"},
      {2, "enforced landlock seccomp", "enforced seccomp", "not_enforced", "degraded landlock"},
      {3, "enforced landlock", "enforced seccomp", "not_enforced", "degraded landlock"},
      {4, "enforced landlock", "enforced landlock seccomp", "not_enforced", "degraded landlock"},
      {5, "enforced landlock", "enforced landlock seccomp", "not_enforced", "enforced landlock"},
      {6, "enforced landlock", "enforced landlock seccomp", "enforced landlock", "enforced landlock"},
      {9, "enforced landlock", "enforced landlock seccomp", "enforced landlock", "enforced landlock"},
  };
  for (const auto& row : table) {
    const auto coverage = lowered(quiet_policy(), without_namespaces(row.abi)).coverage;
    EXPECT_EQ(text_of(coverage, Dimension::writes), row.writes) << row.abi;
    EXPECT_EQ(text_of(coverage, Dimension::network), row.network) << row.abi;
    EXPECT_EQ(text_of(coverage, Dimension::signals), row.signals) << row.abi;
    EXPECT_EQ(text_of(coverage, Dimension::devices), row.devices) << row.abi;
  }
}

TEST(LinuxCoverage, ChangingMetadataIsRefusedAltogetherWhereNothingIsWritable) {
  auto policy = quiet_policy();
  policy.workspace_roots->clear();
  policy.unprotect.reset();
  EXPECT_EQ(text_of(lowered(policy, without_namespaces(9)).coverage, Dimension::metadata), "degraded seccomp");
}

TEST(LinuxCoverage, AbsentNamesAreADegradedGap) {
  auto policy = quiet_policy();
  policy.unprotect.reset();
  for (auto facts : {modern_host(), without_namespaces(9)}) {
    facts.unlisted = PathKind::missing;
    facts.paths["/w"] = {.kind = PathKind::directory};
    const auto coverage = lowered(policy, facts).coverage;
    EXPECT_EQ(codes(coverage, Dimension::writes), std::vector<std::string>{"absent_protected_name"});
    EXPECT_EQ(coverage[Dimension::writes].status, Enforcement::degraded);
    const auto gap = std::ranges::find(coverage.gaps, "absent_protected_name", &Gap::code);
    EXPECT_TRUE(std::ranges::count(gap->paths, AbsPath::of("/w/.envrc")));
  }
}

TEST(LinuxCoverage, ALinkAboveAProtectedNameIsADegradedGap) {
  auto policy = quiet_policy();
  policy.unprotect.reset();
  auto facts = modern_host();
  facts.paths["/w/.git"] = {.kind = PathKind::directory, .link_target = AbsPath::of("/srv/git")};
  EXPECT_EQ(codes(lowered(policy, facts).coverage, Dimension::writes), std::vector<std::string>{"protected_link"});
}

TEST(LinuxCoverage, MountsAloneCannotSeparateDeleting) {
  auto policy = quiet_policy();
  policy.capabilities = Capabilities{.workspace = {WorkspaceOp::read_text, WorkspaceOp::write_text}, .process = {ProcessOp::exec}};
  policy.process_sandbox.read_roots = {AbsPath::of("/dev/kvm")};
  auto facts = modern_host();
  facts.paths["/dev/kvm"] = {.kind = PathKind::device};
  EXPECT_EQ(lowered(policy, facts).coverage.gaps, std::vector<Gap>{});
  facts.linux.landlock_abi = 0;
  const auto coverage = lowered(policy, facts).coverage;
  EXPECT_EQ(codes(coverage, Dimension::writes), std::vector<std::string>{"delete_not_separable"});
  EXPECT_EQ(codes(coverage, Dimension::devices), std::vector<std::string>{"device_write"});
}

TEST(LinuxCoverage, WithoutAPidNamespaceOutsideProcessesShow) {
  auto facts = modern_host();
  facts.linux.pid_namespaces = false;
  facts.linux.landlock_abi = 5;
  expect_rows(lowered(quiet_policy(), facts).coverage,
              {{Dimension::signals, "not_enforced", {"signals_outside"}},
               {Dimension::process_inspection, "degraded view landlock seccomp", {"process_listing"}}});
}

// Nothing but a pid namespace ends with its launcher.
TEST(LinuxCoverage, WithoutAPidNamespaceLimitsOfLifeEndWithTheLauncher) {
  auto policy = quiet_policy();
  const auto note = [&](const HostFacts& facts) { return std::ranges::count(lowered(policy, facts).notes, outlives_launcher_detail); };
  EXPECT_EQ(note(modern_host()), 0);
  EXPECT_EQ(note(without_namespaces(9)), 1);
  policy.limits = {.max_processes = 10, .wall_time = std::chrono::seconds(5)};
  EXPECT_EQ(note(without_namespaces(9)), 0) << "a gap of both limits";
  const auto plan = lowered(policy, without_namespaces(9));
  EXPECT_EQ(codes(plan.coverage, Dimension::wall_time), std::vector<std::string>{"outlives_launcher"});
  EXPECT_EQ(codes(plan.coverage, Dimension::processes), (std::vector<std::string>{"outlives_launcher", "processes_sampled"}));
  EXPECT_EQ(plan.coverage[Dimension::wall_time].status, Enforcement::degraded);
  EXPECT_TRUE(codes(lowered(policy, modern_host()).coverage, Dimension::wall_time).empty());
}

TEST(LinuxCoverage, WithoutAFilterTheGapsSaySo) {
  for (const auto& [abi, code] : {std::pair{4, "udp_not_covered"}, std::pair{2, "no_syscall_filter"}}) {
    auto facts = without_namespaces(abi);
    facts.linux.seccomp = false;
    const auto plan = lowered(quiet_policy(), facts);
    EXPECT_FALSE(confinement(plan).syscalls);
    EXPECT_EQ(codes(plan.coverage, Dimension::network), std::vector<std::string>{code});
    const auto writes = codes(plan.coverage, Dimension::writes);
    EXPECT_EQ(writes, abi < 3 ? (std::vector<std::string>{"truncate_by_path", "no_syscall_filter"})
                              : std::vector<std::string>{"no_syscall_filter"});
    EXPECT_EQ(codes(plan.coverage, Dimension::unix_sockets), (std::vector<std::string>{"named_unix_sockets", "abstract_unix_sockets"}));
  }
}

}  // namespace
}  // namespace harn::plan

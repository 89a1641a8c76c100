// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/lower.h"

namespace harn::plan {
namespace {

HostFacts windows() {
  HostFacts facts;
  facts.platform = Platform::windows;
  facts.home = AbsPath::of("C:/Users/me");
  facts.cwd = facts.project_root = AbsPath::of("C:/w");
  facts.unlisted = PathKind::directory;
  return facts;
}

Policy bare() {
  Policy policy;
  policy.workspace_roots = {AbsPath::of("C:/w")};
  policy.unprotect = *policy.workspace_roots;
  return policy;
}

Result<Plan> lowered(const Policy& policy, const HostFacts& facts = windows()) {
  const Command command{.argv = {"nmake"}};
  const auto rules = PathRules::for_processes(policy, facts);
  Plan plan;
  HARN_OK(lower_appcontainer({.policy = policy, .command = command, .facts = facts, .rules = rules}, plan));
  return plan;
}

AppContainer container(const Policy& policy, const HostFacts& facts = windows()) {
  auto plan = lowered(policy, facts);
  EXPECT_TRUE(plan);
  return plan ? std::get<AppContainer>(plan->confinement) : AppContainer{};
}

const Gap* gap(const Plan& plan, std::string_view code) {
  const auto it = std::find_if(plan.coverage.gaps.begin(), plan.coverage.gaps.end(), [&](const Gap& entry) { return entry.code == code; });
  return it == plan.coverage.gaps.end() ? nullptr : &*it;
}

std::vector<AbsPath> paths(std::initializer_list<std::string_view> texts) {
  std::vector<AbsPath> out;
  for (const auto text : texts) out.push_back(AbsPath::of(text));
  return out;
}

AclGrant grant(std::string_view path, bool modify, std::string note) {
  return {.path = AbsPath::of(path), .modify = modify, .inherit = true, .stops_inheritance = false, .note = std::move(note)};
}
AclGrant cut(std::string_view path, std::string note) {
  return {.path = AbsPath::of(path), .modify = false, .inherit = true, .stops_inheritance = true, .note = std::move(note)};
}

TEST(AppContainer, LessInsideMoreStopsInheritanceAndNeverDenies) {
  auto policy = bare();
  policy.read_only_roots = paths({"C:/w/docs"});
  policy.process_sandbox.read_deny_roots = paths({"C:/w/docs/secret"});
  policy.process_sandbox.write_roots = paths({"C:/w/docs/secret/drop"});
  policy.unprotect->push_back(AbsPath::of("C:/w/docs/secret/drop"));
  EXPECT_EQ(container(policy).grants,
            (std::vector{grant("C:/w", true, "workspace"), cut("C:/w/docs", "read_only"), grant("C:/w/docs", false, "read_only"),
                         cut("C:/w/docs/secret", "deny"), grant("C:/w/docs/secret/drop", true, "process_write")}));
}

TEST(AppContainer, MoreInsideLessIsOneFurtherGrant) {
  Policy policy;
  policy.workspace_roots = paths({"C:/w/out"});
  policy.unprotect = *policy.workspace_roots;
  policy.read_only_roots = paths({"C:/w"});
  EXPECT_EQ(container(policy).grants, (std::vector{grant("C:/w", false, "read_only"), grant("C:/w/out", true, "workspace")}));
}

TEST(AppContainer, EntriesOfFilesAreNotInherited) {
  auto facts = windows();
  facts.paths["C:/w/lock"] = {.kind = PathKind::file};
  auto policy = bare();
  policy.read_only_roots = paths({"C:/w/lock"});
  const auto grants = container(policy, facts).grants;
  ASSERT_EQ(grants.size(), 3u);
  EXPECT_FALSE(grants[1].inherit);
  EXPECT_FALSE(grants[2].inherit);
}

TEST(AppContainer, AbsentNamesAreGapsAndAbsentGrantsAreSkipped) {
  auto facts = windows();
  for (const auto* gone : {"C:/w/no", "C:/data/gone", "C:/data/new"}) facts.paths[gone] = {.kind = PathKind::missing};
  auto policy = bare();
  policy.read_only_roots = paths({"C:/data", "C:/w/no"});
  policy.process_sandbox.read_deny_roots = paths({"C:/data/gone"});
  policy.process_sandbox.write_roots = paths({"C:/data/new"});
  const auto plan = lowered(policy, facts);
  ASSERT_TRUE(plan);
  EXPECT_EQ(std::get<AppContainer>(plan->confinement).grants,
            (std::vector{grant("C:/data", false, "read_only"), grant("C:/w", true, "workspace")}));
  ASSERT_NE(gap(*plan, "absent_protected_name"), nullptr);
  EXPECT_EQ(gap(*plan, "absent_protected_name")->paths, paths({"C:/w/no"}));
  ASSERT_NE(gap(*plan, "absent_denied_name"), nullptr);
  EXPECT_EQ(gap(*plan, "absent_denied_name")->paths, paths({"C:/data/gone"}));
}

TEST(AppContainer, NamesWhatAMoveCanUndo) {
  auto policy = bare();
  policy.read_only_roots = paths({"C:/w/top", "C:/w/a/inner"});
  const auto plan = lowered(policy);
  ASSERT_NE(gap(*plan, "ancestor_rename"), nullptr);
  EXPECT_EQ(gap(*plan, "ancestor_rename")->paths, paths({"C:/w/a/inner"}));
  EXPECT_EQ(plan->coverage[Dimension::writes].status, Enforcement::not_enforced) << "a way around is a hole";
}

TEST(AppContainer, PresetsAreMaterialisedOnlyWhenNamed) {
  EXPECT_EQ(container(bare()).grants.size(), 1u);
  auto policy = bare();
  policy.process_sandbox.presets = std::set{Preset::developer_toolchains};
  EXPECT_GT(container(policy).grants.size(), 1u);
}

TEST(AppContainer, CapabilitiesOpenTheWholeNetworkOrNothing) {
  auto policy = bare();
  EXPECT_EQ(container(policy).capability_sids, std::vector<std::string>{});
  policy.side_effect_level = SideEffectLevel::network;
  policy.network = Network{.allowed_hosts = {{.host = "example.org"}}};
  EXPECT_EQ(container(policy).capability_sids, std::vector<std::string>{});
  EXPECT_EQ(lowered(policy)->coverage[Dimension::network].status, Enforcement::not_enforced);
  policy.network = Network{.mode = NetworkMode::unrestricted};
  EXPECT_EQ(container(policy).capability_sids, (std::vector<std::string>{"internetClient", "privateNetworkClientServer"}));
  EXPECT_EQ(gap(*lowered(policy), "blocked_ports"), nullptr);
  policy.network->blocked_ports = {25};
  ASSERT_NE(gap(*lowered(policy), "blocked_ports"), nullptr);
}

TEST(AppContainer, TheJobCarriesTheLimitsThatAreSetAndNoOthers) {
  auto policy = bare();
  EXPECT_EQ(container(policy).job_limits, (std::map<std::string, std::uint64_t>{}));
  policy.limits = {.max_memory_mb = 512, .max_cpu_seconds = 30, .max_processes = 32, .cpu_milli = 1500};
  EXPECT_EQ(container(policy).job_limits,
            (std::map<std::string, std::uint64_t>{
                {"active_process", 32}, {"cpu_rate_milli", 1500}, {"job_memory", 512u << 20}, {"job_user_time", 300'000'000}}));
  const auto plan = lowered(policy);
  EXPECT_EQ(plan->limits.watched, (std::map<std::string, std::uint64_t>{{"cpu_seconds", 30}}));
  for (const auto dimension : {Dimension::memory, Dimension::cpu, Dimension::processes})
    EXPECT_EQ(plan->coverage[dimension], (DimensionCoverage{Enforcement::enforced, {"job"}, {}}));
}

TEST(AppContainer, TheSupervisorKeepsTimeAndFileSizesStayOpen) {
  auto policy = bare();
  policy.limits = {.max_file_size_mb = 1,
                   .max_output_bytes = 9,
                   .max_open_files = 3,
                   .wall_time = std::chrono::seconds(2),
                   .idle_timeout = std::chrono::seconds(1)};
  const auto plan = lowered(policy);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->limits, (LimitPlan{.wall_time_ms = 2000, .idle_timeout_ms = 1000, .max_output_bytes = 9}));
  EXPECT_EQ(plan->coverage[Dimension::wall_time].status, Enforcement::enforced);
  EXPECT_EQ(plan->coverage[Dimension::file_size].status, Enforcement::not_enforced);
  EXPECT_EQ(plan->notes.size(), 1u);
}

TEST(AppContainer, TheChildUsesTheContainersFoldersUnlessThePolicySetsOthers) {
  auto policy = bare();
  EXPECT_EQ(container(policy).environment,
            (std::map<std::string, std::string>{
                {"LOCALAPPDATA", "@container:folder"}, {"TEMP", "@container:folder\\Temp"}, {"TMP", "@container:folder\\Temp"}}));
  policy.env.set["TEMP"] = "C:\\w\\tmp";
  EXPECT_FALSE(container(policy).environment.contains("TEMP"));
}

TEST(AppContainer, SocketsNeedAnEntryOfTheirOwn) {
  auto facts = windows();
  facts.paths["C:/run/a.sock"] = {.kind = PathKind::socket};
  facts.paths["C:/run/gone.sock"] = {.kind = PathKind::missing};
  auto policy = bare();
  policy.process_sandbox.unix_sockets = {{AbsPath::of("C:/run/gone.sock"), false}, {AbsPath::of("C:/run/a.sock"), false}};
  EXPECT_EQ(
      container(policy, facts).grants,
      (std::vector{
          AclGrant{
              .path = AbsPath::of("C:/run/a.sock"), .modify = true, .inherit = false, .stops_inheritance = false, .note = "unix socket"},
          grant("C:/w", true, "workspace")}));
  policy.process_sandbox.unix_sockets = {{AbsPath::of("C:/run/docker.sock"), false}};
  EXPECT_FALSE(lowered(policy, facts));
}

TEST(AppContainer, CannotTellDeletingFromWriting) {
  auto policy = bare();
  policy.capabilities = Capabilities{.workspace = {WorkspaceOp::read_text, WorkspaceOp::write_text}, .process = {ProcessOp::exec}};
  EXPECT_EQ(lowered(policy)->coverage[Dimension::writes].status, Enforcement::not_enforced);
  EXPECT_TRUE(container(policy).grants.front().modify);
  policy.capabilities->workspace = {WorkspaceOp::read_text, WorkspaceOp::delete_};
  EXPECT_EQ(lowered(policy)->coverage[Dimension::writes].status, Enforcement::degraded);
  EXPECT_FALSE(container(policy).grants.front().modify);
}

TEST(AppContainer, SystemDirectoriesAreReadableByEveryContainer) {
  auto policy = bare();
  ASSERT_NE(gap(*lowered(policy), "system_reads_open"), nullptr);
  EXPECT_EQ(gap(*lowered(policy), "system_reads_open")->paths, paths({"C:/Program Files", "C:/Program Files (x86)", "C:/Windows"}));
  policy.read_only_roots = paths({"C:/Windows"});
  EXPECT_EQ(gap(*lowered(policy), "system_reads_open")->paths, paths({"C:/Program Files", "C:/Program Files (x86)"}));
}

TEST(AppContainer, EverythingThatIsAlwaysThere) {
  const auto found = container(bare());
  EXPECT_EQ(found.name, "harn.sandbox");
  EXPECT_EQ(found.job_flags, (std::vector<std::string>{"die_on_unhandled_exception", "kill_on_job_close"}));
  EXPECT_EQ(found.ui_limits, (std::vector<std::string>{"desktop", "display_settings", "exit_windows", "global_atoms", "handles",
                                                       "read_clipboard", "system_parameters", "write_clipboard"}));
  const auto plan = lowered(bare());
  for (const auto dimension : {Dimension::metadata, Dimension::signals, Dimension::devices})
    EXPECT_EQ(plan->coverage[dimension], (DimensionCoverage{Enforcement::enforced, {"appcontainer"}, {}}));
  for (const auto dimension : {Dimension::writes, Dimension::credential_reads, Dimension::unix_sockets})
    EXPECT_EQ(plan->coverage[dimension], (DimensionCoverage{Enforcement::enforced, {"acl"}, {}}));
}

}  // namespace
}  // namespace harn::plan

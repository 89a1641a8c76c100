// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/lower.h"
#include "plan/openbsd/promises.h"

namespace harn::plan {
namespace {

HostFacts openbsd() {
  HostFacts facts;
  facts.platform = Platform::openbsd;
  facts.uid = 1000;
  facts.home = AbsPath::of("/home/me");
  facts.cwd = facts.project_root = AbsPath::of("/w");
  facts.unlisted = PathKind::directory;
  for (const auto* device : {"/dev/null", "/dev/tty", "/dev/zero", "/dev/random", "/dev/urandom"})
    facts.paths[device] = {.kind = PathKind::device};
  for (const auto* gone : {"/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd"}) facts.paths[gone] = {.kind = PathKind::missing};
  return facts;
}

Policy bare() {
  Policy policy;
  policy.workspace_roots = {AbsPath::of("/w")};
  policy.unprotect = *policy.workspace_roots;
  policy.process_sandbox.presets.emplace();
  return policy;
}

Result<Plan> lowered(const Policy& policy, const HostFacts& facts = openbsd()) {
  const Command command{.argv = {"make"}};
  const auto rules = PathRules::for_processes(policy, facts);
  Plan plan;
  plan.cwd = facts.cwd;
  HARN_OK(lower_pledge_unveil({.policy = policy, .command = command, .facts = facts, .rules = rules}, plan));
  return plan;
}

PledgeUnveil confinement(const Policy& policy, const HostFacts& facts = openbsd()) {
  auto plan = lowered(policy, facts);
  EXPECT_TRUE(plan);
  return plan ? std::get<PledgeUnveil>(plan->confinement) : PledgeUnveil{};
}

// Without the devices every list ends with.
std::vector<Unveil> unveils(const Policy& policy, const HostFacts& facts = openbsd()) {
  auto list = confinement(policy, facts).unveils;
  std::erase_if(list, [](const Unveil& entry) { return AbsPath::of("/dev").contains(entry.path); });
  return list;
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

Unveil entry(std::string_view path, std::string letters) { return {AbsPath::of(path), std::move(letters)}; }

TEST(PledgeUnveil, ANearerEntryReplacesTheOuterOne) {
  auto policy = bare();
  policy.read_only_roots = paths({"/w/docs"});
  policy.process_sandbox.read_deny_roots = paths({"/w/docs/secret"});
  EXPECT_EQ(unveils(policy), (std::vector{entry("/w", "rwxc"), entry("/w/docs", "rx"), entry("/w/docs/secret", "")}));
}

TEST(PledgeUnveil, DevicesCanBeOpenedByAShellsRedirection) {
  EXPECT_EQ(confinement(bare()).unveils, (std::vector{entry("/dev/null", "rwc"), entry("/dev/random", "r"), entry("/dev/tty", "rwc"),
                                                      entry("/dev/urandom", "r"), entry("/dev/zero", "r"), entry("/w", "rwxc")}));
}

TEST(PledgeUnveil, ExecPromisesFollowWhatThePolicyAllows) {
  const std::vector<std::string> always = {"error", "stdio", "rpath", "wpath", "cpath", "fattr",
                                           "flock", "getpw", "tty",   "proc",  "exec",  "prot_exec"};
  const auto plus = [&](std::initializer_list<const char*> more) {
    auto out = always;
    out.insert(out.end(), more.begin(), more.end());
    std::sort(out.begin(), out.end());
    return out;
  };
  const auto promised = [](const Policy& policy) {
    auto out = confinement(policy).exec_promises;
    std::sort(out.begin(), out.end());
    return out;
  };
  auto policy = bare();
  EXPECT_EQ(promised(policy), plus({"dpath"}));
  policy.capabilities = Capabilities{.workspace = {WorkspaceOp::read_text}, .process = {ProcessOp::exec}};
  EXPECT_EQ(promised(policy), plus({}));
  policy.process_sandbox.unix_sockets = {{AbsPath::of("/run/a.sock"), false}};
  EXPECT_EQ(promised(policy), plus({"unix"}));
  policy.side_effect_level = SideEffectLevel::network;
  policy.network = Network{.mode = NetworkMode::unrestricted};
  EXPECT_EQ(promised(policy), plus({"unix", "inet", "dns"}));
  EXPECT_EQ(confinement(policy).promises, (std::vector<std::string>{"stdio", "rpath", "proc", "exec"}));
}

TEST(PledgeUnveil, EveryPromiseHasAReasonAndAppearsOnce) {
  std::set<std::string_view> names;
  for (const auto& promise : promise_table()) {
    EXPECT_FALSE(promise.why.empty()) << promise.name;
    EXPECT_TRUE(names.insert(promise.name).second) << promise.name;
  }
  for (const auto* never : {"ps", "id", "tmppath", "unveil", "sendfd", "recvfd", "settime"}) EXPECT_FALSE(names.contains(never)) << never;
}

TEST(PledgeUnveil, AbsentNamesAreHeldByTheirDirectory) {
  auto facts = openbsd();
  for (const auto* gone : {"/w/harn.toml", "/w/deep", "/w/deep/name", "/data/absent", "/data/gone", "/data/gone/absent"})
    facts.paths[gone] = {.kind = PathKind::missing};
  auto policy = bare();
  policy.read_only_roots = paths({"/data"});
  policy.process_sandbox.read_deny_roots = paths({"/w/harn.toml", "/w/deep/name", "/data/absent", "/data/gone/absent"});
  EXPECT_EQ(unveils(policy, facts),
            (std::vector{entry("/data", "rx"), entry("/data/absent", ""), entry("/w", "rwxc"), entry("/w/harn.toml", "")}));
  const auto plan = lowered(policy, facts);
  ASSERT_TRUE(plan);
  ASSERT_NE(gap(*plan, "absent_protected_name"), nullptr);
  EXPECT_EQ(gap(*plan, "absent_protected_name")->paths, paths({"/w/deep/name"}));
  ASSERT_NE(gap(*plan, "absent_denied_name"), nullptr);
  EXPECT_EQ(gap(*plan, "absent_denied_name")->paths, paths({"/data/gone/absent", "/w/deep/name"}));
  EXPECT_EQ(gap(*plan, "absent_denied_name")->dimension, Dimension::reads);
}

TEST(PledgeUnveil, AbsentCredentialsBelongToTheirOwnDimension) {
  auto facts = openbsd();
  for (const auto* gone : {"/home/me/.cache/huggingface", "/home/me/.cache/huggingface/token", "/home/me/.cache/huggingface/stored_tokens"})
    facts.paths[gone] = {.kind = PathKind::missing};
  auto policy = bare();
  policy.read_only_roots = paths({"/home/me/.cache"});
  const auto plan = lowered(policy, facts);
  ASSERT_TRUE(plan);
  ASSERT_NE(gap(*plan, "absent_denied_name"), nullptr);
  EXPECT_EQ(gap(*plan, "absent_denied_name")->paths,
            paths({"/home/me/.cache/huggingface/stored_tokens", "/home/me/.cache/huggingface/token"}));
  EXPECT_EQ(gap(*plan, "absent_denied_name")->dimension, Dimension::credential_reads);
}

TEST(PledgeUnveil, NothingAbsentIsGranted) {
  auto facts = openbsd();
  facts.paths["/w/out"] = {.kind = PathKind::missing};
  auto policy = bare();
  policy.read_only_roots = paths({"/w"});
  policy.workspace_roots = paths({"/w/out"});
  policy.unprotect = *policy.workspace_roots;
  EXPECT_EQ(unveils(policy, facts), (std::vector{entry("/w", "rx")}));
}

TEST(PledgeUnveil, NamesWhatAMoveOrALinkCanUndo) {
  auto facts = openbsd();
  facts.paths["/w/top.txt"] = {.kind = PathKind::file};
  auto policy = bare();
  policy.read_only_roots = paths({"/w/top.txt", "/w/a/inner", "/srv/lib"});
  const auto plan = lowered(policy, facts);
  ASSERT_TRUE(plan);
  ASSERT_NE(gap(*plan, "ancestor_rename"), nullptr);
  EXPECT_EQ(gap(*plan, "ancestor_rename")->paths, paths({"/w/a/inner"}));
  ASSERT_NE(gap(*plan, "hard_link_alias"), nullptr);
  EXPECT_EQ(gap(*plan, "hard_link_alias")->paths, paths({"/srv/lib", "/w/a/inner", "/w/top.txt"}));
  EXPECT_EQ(plan->coverage[Dimension::writes].status, Enforcement::not_enforced);
}

TEST(PledgeUnveil, FilesOfTheSystemCannotBeLinkedAndWrittenExceptByRoot) {
  auto policy = bare();
  policy.process_sandbox.presets = std::set{Preset::system_runtime};
  auto facts = openbsd();
  for (const auto* path : {"/bin", "/sbin", "/lib", "/etc", "/var/run/ld.so.hints"}) facts.paths[path] = {.kind = PathKind::missing};
  EXPECT_EQ(gap(*lowered(policy, facts), "hard_link_alias"), nullptr);
  facts.uid = 0;
  const auto plan = lowered(policy, facts);
  ASSERT_NE(gap(*plan, "hard_link_alias"), nullptr);
  EXPECT_EQ(gap(*plan, "hard_link_alias")->paths, paths({"/usr"}));
}

TEST(PledgeUnveil, SocketsAreUnveiledAndTheirNeighboursNamed) {
  auto facts = openbsd();
  facts.paths["/run/a.sock"] = {.kind = PathKind::socket};
  facts.paths["/run/gone.sock"] = {.kind = PathKind::missing};
  auto policy = bare();
  policy.process_sandbox.unix_sockets = {{AbsPath::of("/run/gone.sock"), false}, {AbsPath::of("/run/a.sock"), false}};
  EXPECT_EQ(unveils(policy, facts), (std::vector{entry("/run/a.sock", "rw"), entry("/w", "rwxc")}));
  const auto plan = lowered(policy, facts);
  ASSERT_NE(gap(*plan, "named_unix_sockets"), nullptr);
  EXPECT_EQ(gap(*plan, "named_unix_sockets")->paths, paths({"/w"}));
  EXPECT_EQ(gap(*lowered(bare()), "named_unix_sockets"), nullptr);
}

TEST(PledgeUnveil, RefusesADangerousSocket) {
  auto policy = bare();
  policy.process_sandbox.unix_sockets = {{AbsPath::of("/var/run/docker.sock"), false}};
  ASSERT_FALSE(lowered(policy));
}

TEST(PledgeUnveil, CannotTellDeletingFromWriting) {
  auto policy = bare();
  policy.capabilities = Capabilities{.workspace = {WorkspaceOp::read_text, WorkspaceOp::write_text}, .process = {ProcessOp::exec}};
  auto plan = lowered(policy);
  ASSERT_NE(gap(*plan, "delete_not_separable"), nullptr);
  EXPECT_EQ(plan->coverage[Dimension::writes].status, Enforcement::not_enforced);
  EXPECT_EQ(unveils(policy), (std::vector{entry("/w", "rwxc")}));
  policy.capabilities->workspace = {WorkspaceOp::read_text, WorkspaceOp::delete_};
  plan = lowered(policy);
  ASSERT_NE(gap(*plan, "delete_not_separable"), nullptr);
  EXPECT_EQ(plan->coverage[Dimension::writes].status, Enforcement::degraded);
  EXPECT_EQ(unveils(policy), (std::vector{entry("/w", "rx")}));
}

TEST(PledgeUnveil, DevicesTakeWritesWhereTheFilesDoNot) {
  auto policy = bare();
  policy.capabilities = Capabilities{.workspace = {WorkspaceOp::read_text}, .process = {ProcessOp::exec}};
  const auto plan = lowered(policy);
  ASSERT_TRUE(plan);
  const auto& list = std::get<PledgeUnveil>(plan->confinement).unveils;
  EXPECT_EQ(std::ranges::count(list, entry("/dev/null", "rwc")), 1);
  EXPECT_EQ(std::ranges::count(list, entry("/dev/zero", "r")), 1);
  EXPECT_EQ(std::ranges::count(list, entry("/w", "rx")), 1);
}

TEST(PledgeUnveil, ATableThatIsFullGivesUpAbsentNamesFirst) {
  auto facts = openbsd();
  auto policy = bare();
  policy.read_only_roots.emplace();
  for (int i = 0; i < 124; ++i) {
    const auto file = AbsPath::of("/data/file-" + std::to_string(i));
    facts.paths[file.text()] = {.kind = PathKind::file};
    policy.read_only_roots->push_back(file);
  }
  facts.paths["/w/harn.toml"] = {.kind = PathKind::missing};
  policy.process_sandbox.read_deny_roots = paths({"/w/harn.toml"});
  // 124 files and five devices leave no room at all.
  ASSERT_FALSE(lowered(policy, facts));
  EXPECT_EQ(lowered(policy, facts).error().code, ErrorCode::not_supported);
  policy.read_only_roots->resize(122);
  const auto plan = lowered(policy, facts);
  ASSERT_TRUE(plan);
  ASSERT_NE(gap(*plan, "absent_protected_name"), nullptr);
  EXPECT_EQ(gap(*plan, "absent_protected_name")->paths, paths({"/w/harn.toml"}));
  policy.read_only_roots->resize(121);
  EXPECT_EQ(gap(*lowered(policy, facts), "absent_protected_name"), nullptr);
}

TEST(PledgeUnveil, TooManyDirectoriesAreRefusedByCount) {
  auto policy = bare();
  policy.read_only_roots.emplace();
  for (int i = 0; i < 200; ++i) policy.read_only_roots->push_back(AbsPath::of("/data/" + std::to_string(i)));
  const auto plan = lowered(policy);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().message, "the policy needs 202 directories and 5 files in unveil's table, which holds fewer than 128 of each");
}

TEST(PledgeUnveil, SaysWhatTheNetworkPromiseCannotDo) {
  struct Row {
    Network network;
    std::string code;
    Enforcement status;
  };
  const Row rows[] = {
      {{}, "", Enforcement::enforced},
      {{.loopback = true}, "loopback_only", Enforcement::degraded},
      {{.allowed_hosts = {{.host = "example.org"}}}, "per_host_network", Enforcement::not_enforced},
      {{.mode = NetworkMode::unrestricted, .blocked_ports = {25}}, "blocked_ports", Enforcement::not_enforced},
  };
  for (const auto& row : rows) {
    auto policy = bare();
    policy.side_effect_level = SideEffectLevel::network;
    policy.network = row.network;
    const auto plan = lowered(policy);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->coverage[Dimension::network].status, row.status) << row.code;
    EXPECT_EQ(gap(*plan, row.code) != nullptr, !row.code.empty()) << row.code;
  }
}

TEST(PledgeUnveil, SignalsAreTheStandingHole) {
  const auto plan = lowered(bare());
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->coverage[Dimension::signals].status, Enforcement::not_enforced);
  EXPECT_EQ(plan->coverage[Dimension::process_inspection], (DimensionCoverage{Enforcement::enforced, {"pledge"}, {}}));
  for (const auto dimension : {Dimension::reads, Dimension::credential_reads, Dimension::metadata, Dimension::devices})
    EXPECT_EQ(plan->coverage[dimension], (DimensionCoverage{Enforcement::enforced, {"unveil"}, {}}));
}

}  // namespace
}  // namespace harn::plan

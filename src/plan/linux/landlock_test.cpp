// SPDX-License-Identifier: Apache-2.0
#include "plan/linux/landlock.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "plan/linux/view.h"
#include "support/landlock_model.h"

namespace harn::plan {
namespace {

using Names = std::vector<std::string>;

HostFacts host(int abi, std::initializer_list<const char*> directories = {"/w"}) {
  HostFacts facts;
  facts.home = AbsPath::of("/home/u");
  facts.linux = {.landlock_abi = abi, .pid_namespaces = true};
  for (const auto* path : directories) facts.paths[path] = {.kind = PathKind::directory};
  return facts;
}

Policy policy_with(std::vector<AbsPath> writable) {
  Policy policy;
  policy.workspace_roots = std::move(writable);
  policy.process_sandbox.presets.emplace();
  return policy;
}

Policy workspace() { return policy_with({AbsPath::of("/w")}); }

struct Planned {
  const Policy& policy;
  const HostFacts& facts;
  bool view = false;
  NetworkReach reach = NetworkReach::none;
};

LandlockOutcome plan_of(const Planned& wanted) {
  const auto rules = PathRules::for_processes(wanted.policy, wanted.facts);
  const Command command;
  const PlanInput input{.policy = wanted.policy, .command = command, .facts = wanted.facts, .rules = rules};
  if (!wanted.view) return plan_landlock(input, {.reach = wanted.reach});
  const auto view = plan_view(input, {});
  return plan_landlock(input, {.view = &view.view, .reach = wanted.reach});
}

Names access_at(const LandlockPlan& plan, const char* path) {
  for (const auto& rule : plan.rules)
    if (rule.path.text() == path) return rule.access;
  return {};
}

// "path: rights" per line without the standard devices.
std::string text_of(const LandlockPlan& plan) {
  std::string out;
  for (const auto& rule : plan.rules)
    if (rule.note != "device") out += rule.path.text() + ": " + base::join(rule.access, " ") + " (" + rule.note + ")\n";
  return out;
}

TEST(Landlock, EveryAbiHandlesWhatItsKernelKnows) {
  const Names first = {"execute",  "write_file", "read_file", "read_dir",  "remove_dir", "remove_file", "make_char",
                       "make_dir", "make_reg",   "make_sock", "make_fifo", "make_block", "make_sym"};
  const std::pair<int, Names> added[] = {{2, {"refer"}}, {3, {"truncate"}}, {4, {}}, {5, {"ioctl_dev"}},
                                         {6, {}},        {7, {}},           {8, {}}, {9, {"resolve_unix"}}};
  EXPECT_EQ(plan_of({workspace(), host(1)}).plan.handled_fs, first);
  auto expected = first;
  for (const auto& [abi, names] : added) {
    expected.insert(expected.end(), names.begin(), names.end());
    const auto plan = plan_of({workspace(), host(abi)}).plan;
    EXPECT_EQ(plan.handled_fs, expected) << abi;
    EXPECT_EQ(plan.handled_net, abi >= 4 ? (Names{"bind_tcp", "connect_tcp"}) : Names{}) << abi;
    EXPECT_EQ(plan.scoped, abi >= 6 ? (Names{"abstract_unix_socket", "signal"}) : Names{}) << abi;
    EXPECT_EQ(plan.abi, abi);
  }
}

TEST(Landlock, ANewerKernelIsUsedLikeTheNewestKnown) {
  EXPECT_EQ(plan_of({workspace(), host(12)}).plan, plan_of({workspace(), host(newest_landlock_abi)}).plan);
}

TEST(Landlock, WritableRootsNeverMakeDevices) {
  EXPECT_EQ(access_at(plan_of({workspace(), host(9)}).plan, "/w"),
            (Names{"execute", "write_file", "read_file", "read_dir", "remove_dir", "remove_file", "make_dir", "make_reg", "make_sock",
                   "make_fifo", "make_sym", "refer", "truncate"}));
}

TEST(Landlock, DropsReferBelowAbi2AndTruncateBelowAbi3) {
  for (int abi = 1; abi <= 3; ++abi) {
    const auto plan = plan_of({workspace(), host(abi)}).plan;
    const auto access = access_at(plan, "/w");
    EXPECT_EQ(std::ranges::find(access, "refer") != access.end(), abi >= 2) << abi;
    EXPECT_EQ(std::ranges::find(access, "truncate") != access.end(), abi >= 3) << abi;
    EXPECT_EQ(test::landlock_grants(plan, AbsPath::of("/w"), "refer"), abi >= 2) << abi;
  }
}

TEST(Landlock, RightsFollowTheHeldCapabilities) {
  auto policy = workspace();
  policy.capabilities = Capabilities{.workspace = {WorkspaceOp::read_text, WorkspaceOp::write_text}};
  EXPECT_EQ(access_at(plan_of({policy, host(3)}).plan, "/w"),
            (Names{"execute", "write_file", "read_file", "read_dir", "make_dir", "make_reg", "make_sock", "make_fifo", "make_sym", "refer",
                   "truncate"}));
  policy.capabilities->workspace = {WorkspaceOp::read_text, WorkspaceOp::delete_};
  EXPECT_EQ(access_at(plan_of({policy, host(3)}).plan, "/w"), (Names{"execute", "read_file", "read_dir", "remove_dir", "remove_file"}));
  policy.capabilities->workspace = {WorkspaceOp::read_text};
  EXPECT_EQ(access_at(plan_of({policy, host(3)}).plan, "/w"), (Names{"execute", "read_file", "read_dir"}));
}

TEST(Landlock, FilesAndDevicesLoseDirectoryRights) {
  auto policy = policy_with({});
  policy.read_only_roots = {AbsPath::of("/srv/notes")};
  policy.process_sandbox.write_roots = {AbsPath::of("/srv/log"), AbsPath::of("/dev/kvm")};
  auto facts = host(5, {});
  for (const auto* path : {"/srv/notes", "/srv/log"}) facts.paths[path] = {.kind = PathKind::file};
  facts.paths["/dev/kvm"] = {.kind = PathKind::device};
  EXPECT_EQ(text_of(plan_of({policy, facts}).plan),
            "/dev/kvm: write_file read_file truncate ioctl_dev (process_write)\n"
            "/proc: read_file read_dir (process state)\n"
            "/srv/log: execute write_file read_file truncate (process_write)\n"
            "/srv/notes: execute read_file (read_only)\n");
}

TEST(Landlock, StandardDevicesAreOpenAndOnlyTheTerminalTakesIoctl) {
  const auto plan = plan_of({workspace(), host(5)}).plan;
  EXPECT_EQ(access_at(plan, "/dev/null"), (Names{"write_file", "read_file", "truncate"}));
  EXPECT_EQ(access_at(plan, "/dev/urandom"), (Names{"read_file"}));
  EXPECT_EQ(access_at(plan, "/dev/tty"), (Names{"write_file", "read_file", "truncate", "ioctl_dev"}));
  EXPECT_EQ(access_at(plan, "/dev/pts"), Names{});
}

TEST(Landlock, ReportsWhatItCannotTakeBack) {
  auto policy = workspace();
  policy.read_only_roots = {AbsPath::of("/w/docs"), AbsPath::of("/w/key/public"), AbsPath::of("/srv")};
  policy.process_sandbox.read_deny_roots = {AbsPath::of("/w/key"), AbsPath::of("/srv/key"), AbsPath::of("/srv/gone")};
  const auto facts = host(9, {"/w", "/w/docs", "/w/key", "/w/key/public", "/srv", "/srv/key", "/w/.vscode"});
  const auto out = plan_of({policy, facts});
  std::vector<AbsPath> denied;
  for (const auto& rule : out.denied_inside) denied.push_back(rule.path);
  EXPECT_EQ(denied, (std::vector{AbsPath::of("/srv/key"), AbsPath::of("/w/key")}));
  EXPECT_EQ(out.denied_in_writable, std::vector{AbsPath::of("/w/key")});
  EXPECT_EQ(out.read_only_inside, (std::vector{AbsPath::of("/w/.vscode"), AbsPath::of("/w/docs"), AbsPath::of("/w/key/public")}));
  EXPECT_TRUE(std::ranges::find(out.absent_names, AbsPath::of("/w/harn.toml")) != out.absent_names.end());
}

TEST(Landlock, WritesAReadableRegionAsItsPartsWithoutAView) {
  auto policy = policy_with({});
  policy.read_only_roots = {AbsPath::of("/srv")};
  policy.process_sandbox.read_deny_roots = {AbsPath::of("/srv/key")};
  auto facts = host(3, {"/srv", "/srv/key"});
  facts.paths["/srv"].entries = {"a", "key"};
  const auto out = plan_of({policy, facts});
  EXPECT_EQ(text_of(out.plan), "/proc: read_file read_dir (process state)\n/srv/a: execute read_file read_dir (read_only)\n");
  EXPECT_EQ(out.denied_inside, std::vector<PathRule>{});
  EXPECT_EQ(out.not_listable, std::vector{AbsPath::of("/srv")});
}

TEST(Landlock, DescribesThePlacesTheViewMakes) {
  auto policy = policy_with({AbsPath::of("/home/u/p")});
  policy.process_sandbox.presets = {Preset::user_temp};
  policy.read_only_roots = {AbsPath::of("/home/u/.cargo"), AbsPath::of("/proc/sys"), AbsPath::of("/dev")};
  const auto facts = host(6, {"/home/u/p", "/home/u/.cargo", "/proc/sys", "/dev"});
  const auto out = plan_of({.policy = policy, .facts = facts, .view = true});
  const std::string all =
      "execute write_file read_file read_dir remove_dir remove_file make_dir make_reg make_sock make_fifo make_sym refer truncate";
  EXPECT_EQ(text_of(out.plan),
            "/: read_dir (the view itself)\n"
            "/dev/pts: write_file read_file read_dir ioctl_dev (private)\n"
            "/dev/shm: " +
                all +
                " (private)\n"
                "/home/u: " +
                all +
                " (private)\n"
                "/home/u/.cargo: execute read_file read_dir (read_only)\n"
                "/home/u/p: " +
                all +
                " (workspace)\n"
                "/proc: read_file read_dir (own processes)\n"
                "/tmp: " +
                all + " (private)\n");
  EXPECT_EQ(out.read_only_inside, std::vector{AbsPath::of("/home/u/.cargo")});  // the mount keeps it read-only
}

TEST(Landlock, WithholdsDeletingAroundAWorkspaceThatMayNotDelete) {
  auto policy = policy_with({AbsPath::of("/home/u/p")});
  policy.process_sandbox.presets = {Preset::user_temp};
  policy.capabilities = Capabilities{.workspace = {WorkspaceOp::read_text, WorkspaceOp::write_text}};
  const auto facts = host(6, {"/home/u/p"});
  const auto plan = plan_of({.policy = policy, .facts = facts, .view = true}).plan;
  EXPECT_FALSE(test::landlock_allows(plan, AbsPath::of("/home/u/p/x"), FileOp::remove));
  EXPECT_TRUE(test::landlock_allows(plan, AbsPath::of("/tmp/x"), FileOp::remove));
}

TEST(Landlock, GrantsNothingThroughALink) {
  auto policy = policy_with({});
  policy.read_only_roots = {AbsPath::of("/srv/link")};
  auto facts = host(3, {});
  facts.paths["/srv/link"] = {.kind = PathKind::directory, .link_target = AbsPath::of("/root")};
  EXPECT_EQ(text_of(plan_of({policy, facts}).plan), "/proc: read_file read_dir (process state)\n");
}

TEST(Landlock, LeavesProcClosedWhereThePolicyDeniesIt) {
  auto policy = policy_with({});
  policy.process_sandbox.read_deny_roots = {AbsPath::of("/proc")};
  EXPECT_EQ(text_of(plan_of({policy, host(3, {})}).plan), "");
}

TEST(Landlock, NamedSocketsNeedAbi9) {
  auto policy = policy_with({});
  policy.process_sandbox.unix_sockets = {{AbsPath::of("/run/db.sock")}, {AbsPath::of("/run/gone.sock")}};
  for (int abi = 8; abi <= 9; ++abi) {
    auto facts = host(abi, {});
    facts.paths["/run/db.sock"] = {.kind = PathKind::socket};
    EXPECT_EQ(text_of(plan_of({policy, facts}).plan),
              std::string("/proc: read_file read_dir (process state)\n") + (abi == 9 ? "/run/db.sock: resolve_unix (unix_socket)\n" : ""));
  }
}

TEST(Landlock, PortsAreClosedWhereNothingIsReachable) {
  const std::pair<NetworkReach, Names> table[] = {{NetworkReach::none, {"bind_tcp", "connect_tcp"}},
                                                  {NetworkReach::loopback, {}},
                                                  {NetworkReach::restricted, {}},
                                                  {NetworkReach::unrestricted, {}}};
  for (const auto& [reach, handled] : table) {
    const auto plan = plan_of({.policy = workspace(), .facts = host(4), .reach = reach}).plan;
    EXPECT_EQ(plan.handled_net, handled);
    EXPECT_TRUE(plan.ports.empty());
  }
}

TEST(Landlock, TheTableIsTheKernels) {
  for (const auto& right : landlock_rights()) {
    const LandlockPlan plan{.abi = right.since, .handled_fs = {std::string(right.name)}};
    EXPECT_EQ(test::landlock_faults(plan, {}), Names{}) << right.name;
    const LandlockPlan older{.abi = right.since - 1, .handled_fs = {std::string(right.name)}};
    EXPECT_EQ(test::landlock_faults(older, {}).size(), 1u) << right.name;
  }
}

}  // namespace
}  // namespace harn::plan

// SPDX-License-Identifier: Apache-2.0
#include "plan/linux/view.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/names.h"
#include "support/mount_model.h"

namespace harn::plan {
namespace {

// One step per line, as a reviewer would read it.
std::string text_of(const View& view) {
  std::string out;
  for (const auto& step : view.mounts) {
    out += std::string(base::enum_name(step.op)) + " " + step.target.text();
    if (!step.source.empty() && step.source != step.target.text()) out += " from " + step.source;
    out += (step.file ? " file (" : " (") + step.note + ")\n";
  }
  return out;
}

HostFacts host(std::initializer_list<const char*> directories) {
  HostFacts facts;
  facts.home = AbsPath::of("/home/u");
  facts.linux = {.user_namespaces = true, .pid_namespaces = true, .network_namespaces = true};
  for (const auto* path : directories) facts.paths[path] = {.kind = PathKind::directory};
  return facts;
}

// No presets: only what a test names.
Policy policy_with(std::vector<AbsPath> writable) {
  Policy policy;
  policy.workspace_roots = std::move(writable);
  policy.process_sandbox.presets.emplace();
  return policy;
}

Policy with_temp(Policy policy) {
  policy.process_sandbox.presets = {Preset::user_temp};
  return policy;
}

ViewPlan plan_of(const Policy& policy, const HostFacts& facts, Isolation isolation = {}) {
  const auto rules = PathRules::for_processes(policy, facts);
  const Command command;
  return plan_view({.policy = policy, .command = command, .facts = facts, .rules = rules}, isolation);
}

AbsPath work() { return AbsPath::of("/home/u/p"); }

TEST(View, WorkspaceIsBoundOverAPrivateHome) {
  const auto out = plan_of(with_temp(policy_with({work()})), host({"/home/u/p"}));
  EXPECT_EQ(text_of(out.view),
            "tmpfs / (root)\n"
            "dev /dev (own devices)\n"
            "tmpfs /home/u (private)\n"
            "bind /home/u/p (workspace)\n"
            "proc /proc (own processes)\n"
            "directory /run (empty)\n"
            "tmpfs /tmp (private)\n"
            "symlink /var/tmp from /tmp (temporary files)\n");
}

TEST(View, AWorkspaceInsideVarTmpIsBoundNotHiddenBehindTheAlias) {
  const auto out = plan_of(with_temp(policy_with({AbsPath::of("/var/tmp/q")})), host({"/var/tmp/q"}));
  EXPECT_EQ(test::mount_access(out.view, AbsPath::of("/var/tmp/q/file")), Access::write);
  EXPECT_EQ(test::mount_access(out.view, AbsPath::of("/var/tmp/other")), Access::none);
}

TEST(View, WithoutUserTempHomeAndTmpAreEmptyAndReadOnly) {
  const auto out = plan_of(policy_with({work()}), host({"/home/u/p"}));
  EXPECT_EQ(text_of(out.view),
            "tmpfs / (root)\n"
            "dev /dev (own devices)\n"
            "directory /home/u (empty)\n"
            "bind /home/u/p (workspace)\n"
            "proc /proc (own processes)\n"
            "directory /run (empty)\n"
            "directory /tmp (empty)\n");
}

TEST(View, UserTempNeedsAPolicyThatWrites) {
  EXPECT_TRUE(wants_temp(Policy{}));
  EXPECT_FALSE(wants_temp(policy_with({})));
  EXPECT_FALSE(wants_temp(Policy{.side_effect_level = SideEffectLevel::read_only}));
  EXPECT_FALSE(wants_temp(Policy{.capabilities = Capabilities{.workspace = {WorkspaceOp::read_text}}}));
}

TEST(View, NestedRulesCoverTheirParentsInOrder) {
  auto policy = policy_with({AbsPath::of("/w")});
  policy.read_only_roots = {AbsPath::of("/w/docs"), AbsPath::of("/srv")};
  policy.process_sandbox.write_roots = {AbsPath::of("/srv/cache")};
  policy.process_sandbox.read_deny_roots = {AbsPath::of("/w/docs/keys"), AbsPath::of("/srv/key.pem")};
  auto facts = host({"/w", "/w/docs", "/w/docs/keys", "/srv", "/srv/cache"});
  facts.paths["/srv/key.pem"] = {.kind = PathKind::file};
  EXPECT_EQ(text_of(plan_of(policy, facts).view),
            "tmpfs / (root)\n"
            "dev /dev (own devices)\n"
            "directory /home/u (empty)\n"
            "proc /proc (own processes)\n"
            "directory /run (empty)\n"
            "bind_read /srv (read_only)\n"
            "bind /srv/cache (process_write)\n"
            "hide /srv/key.pem file (deny)\n"
            "directory /tmp (empty)\n"
            "bind /w (workspace)\n"
            "bind_read /w/docs (read_only)\n"
            "hide /w/docs/keys (deny)\n");
}

TEST(View, WhatTheFileItselfClosesIsNotCoveredInsideAReadablePlace) {
  auto policy = policy_with({AbsPath::of("/w")});
  policy.read_only_roots = {AbsPath::of("/srv")};
  policy.process_sandbox.read_deny_roots = {AbsPath::of("/w/key"), AbsPath::of("/srv/key")};
  auto facts = host({"/w", "/srv"});
  for (const auto* path : {"/w/key", "/srv/key"}) facts.paths[path] = {.kind = PathKind::file, .locked = true};
  const auto text = text_of(plan_of(policy, facts).view);
  EXPECT_EQ(text.find("/srv/key"), std::string::npos) << text;
  EXPECT_NE(text.find("hide /w/key file (deny)"), std::string::npos) << text;
}

TEST(View, PinsDirectoriesAboveAProtectedName) {
  auto facts = host({"/w", "/w/.git", "/w/.git/hooks"});
  facts.paths["/w/.git/config"] = {.kind = PathKind::file};
  const auto out = plan_of(policy_with({AbsPath::of("/w")}), facts);
  const auto text = text_of(out.view);
  EXPECT_NE(text.find("bind /w (workspace)\n"
                      "bind /w/.git (pin)\n"
                      "bind_read /w/.git/config file (protected)\n"
                      "bind_read /w/.git/hooks (protected)\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(test::unpinned_places(out.view), std::vector<AbsPath>{});
  EXPECT_TRUE(test::is_mount_point(out.view, AbsPath::of("/w/.git")));
}

TEST(View, ReportsProtectedNamesThatDoNotExist) {
  auto policy = policy_with({AbsPath::of("/w")});
  policy.process_sandbox.read_deny_roots = {AbsPath::of("/w/secret"), AbsPath::of("/srv/gone")};
  policy.read_only_roots = {AbsPath::of("/srv")};
  const auto out = plan_of(policy, host({"/w", "/srv"}));
  const auto& absent = out.absent_names;
  EXPECT_TRUE(std::ranges::count(absent, AbsPath::of("/w/harn.toml")));
  EXPECT_TRUE(std::ranges::count(absent, AbsPath::of("/w/secret")));
  EXPECT_FALSE(std::ranges::count(absent, AbsPath::of("/w/.git/hooks")));  // the command may create a repository
  EXPECT_FALSE(std::ranges::count(absent, AbsPath::of("/srv/gone")));      // nothing can be created there
  EXPECT_EQ(text_of(out.view).find("/w/"), std::string::npos);
}

TEST(View, MergedUsrLinksStayLinks) {
  auto facts = host({"/usr", "/bin", "/lib"});
  facts.paths["/bin"].link_target = AbsPath::of("/usr/bin");
  facts.paths["/lib"].link_target = AbsPath::of("/usr/lib");
  auto policy = policy_with({});
  policy.process_sandbox.presets = {Preset::system_runtime};
  const auto out = plan_of(policy, facts);
  EXPECT_EQ(text_of(out.view),
            "tmpfs / (root)\n"
            "symlink /bin from /usr/bin (preset)\n"
            "dev /dev (own devices)\n"
            "directory /home/u (empty)\n"
            "symlink /lib from /usr/lib (preset)\n"
            "proc /proc (own processes)\n"
            "directory /run (empty)\n"
            "directory /tmp (empty)\n"
            "bind_read /usr (preset)\n");
  EXPECT_EQ(out.notes, std::vector<std::string>{});
}

TEST(View, ALinkOpensNothingByItself) {
  auto facts = host({"/w", "/home/u/.ssh"});
  facts.paths["/w/tools"] = {.kind = PathKind::directory, .link_target = AbsPath::of("/home/u/.ssh")};
  auto policy = policy_with({});
  policy.read_only_roots = {AbsPath::of("/w/tools")};
  const auto out = plan_of(policy, facts);
  EXPECT_EQ(test::mount_access(out.view, AbsPath::of("/home/u/.ssh/id")), Access::none);
  EXPECT_EQ(out.notes, std::vector<std::string>{"'/w/tools' is a link to '/home/u/.ssh', which no rule opens as far"});
}

// Somebody who could write the workspace earlier may have put links in place of protected names.
TEST(View, LinksInPlaceOfProtectedNamesAreCovered) {
  const struct {
    PathKind kind;
    const char* target;
    const char* expected;
  } table[] = {
      {PathKind::file, "/srv/rc", "bind_read /w/.bashrc from /srv/rc file (protected)\n"},
      {PathKind::file, "/root/key", "hide /w/.bashrc file (protected)\n"},
      {PathKind::directory, "/srv/d", "hide /w/.bashrc file (protected)\n"},
  };
  for (const auto& row : table) {
    auto facts = host({"/w", "/srv"});
    facts.paths["/w/.bashrc"] = {.kind = row.kind, .link_target = AbsPath::of(row.target)};
    auto policy = policy_with({AbsPath::of("/w")});
    policy.read_only_roots = {AbsPath::of("/srv")};
    const auto text = text_of(plan_of(policy, facts).view);
    EXPECT_NE(text.find(row.expected), std::string::npos) << text;
  }
}

TEST(View, ReportsALinkAboveAProtectedName) {
  auto facts = host({"/w", "/w/.git/hooks"});
  facts.paths["/w/.git"] = {.kind = PathKind::directory, .link_target = AbsPath::of("/srv/git")};
  const auto out = plan_of(policy_with({AbsPath::of("/w")}), facts);
  EXPECT_EQ(out.loose_links, std::vector<AbsPath>{AbsPath::of("/w/.git")});
  EXPECT_EQ(text_of(out.view).find("/w/.git"), std::string::npos);
}

TEST(View, ALinkInsideAReadableRegionIsLeftAlone) {
  auto facts = host({"/srv", "/srv/link/key"});
  facts.paths["/srv/link"] = {.kind = PathKind::directory, .link_target = AbsPath::of("/w")};
  auto policy = policy_with({AbsPath::of("/srv/link"), AbsPath::of("/srv/link/sub")});
  facts.paths["/srv/link/sub"] = {.kind = PathKind::directory};
  policy.read_only_roots = {AbsPath::of("/srv")};
  policy.process_sandbox.read_deny_roots = {AbsPath::of("/srv/link/key")};
  EXPECT_EQ(text_of(plan_of(policy, facts).view).find("/srv/"), std::string::npos);
}

TEST(View, AGrantedHomeIsTheRealOne) {
  const auto facts = host({"/", "/dev", "/proc", "/home", "/home/u"});
  for (const auto* root : {"/home/u", "/home", "/"}) {
    const auto out = plan_of(with_temp(policy_with({AbsPath::of(root)})), facts);
    EXPECT_EQ(test::mount_access(out.view, AbsPath::of("/home/u/x")), Access::write) << root;
    EXPECT_EQ(text_of(out.view).find("tmpfs /home"), std::string::npos) << root;
    EXPECT_EQ(test::mount_faults(out.view, facts), std::vector<std::string>{}) << root;
  }
}

TEST(View, AHomeThatIsTheRootNeedsNoPlaceOfItsOwn) {
  auto facts = host({"/w"});
  facts.home = AbsPath();
  const auto out = plan_of(with_temp(policy_with({AbsPath::of("/w")})), facts);
  EXPECT_EQ(std::ranges::count(out.view.mounts, AbsPath(), &MountStep::target), 1);
}

TEST(View, AHomeInsideTmpSharesItsPrivateSpace) {
  auto facts = host({"/w"});
  facts.home = AbsPath::of("/tmp/home");
  const auto text = text_of(plan_of(with_temp(policy_with({AbsPath::of("/w")})), facts).view);
  EXPECT_NE(text.find("tmpfs /tmp (private)\ndirectory /tmp/home (empty)\n"), std::string::npos) << text;
}

TEST(View, DeniedTmpBecomesPrivateInsideAReadableRoot) {
  auto policy = with_temp(policy_with({}));
  policy.read_only_roots = {AbsPath()};
  policy.process_sandbox.read_deny_roots = {AbsPath::of("/tmp"), AbsPath::of("/var/tmp"), AbsPath::of("/run")};
  const auto facts = host({"/", "/tmp", "/run"});  // no /var/tmp: we cannot make a mount point there
  EXPECT_EQ(text_of(plan_of(policy, facts).view),
            "bind_read / (read_only)\n"
            "dev /dev (own devices)\n"
            "proc /proc (own processes)\n"
            "hide /run (deny)\n"
            "tmpfs /tmp (private)\n");
}

TEST(View, SocketsOfThePolicyAreBoundWhereNothingShowsThem) {
  auto policy = policy_with({AbsPath::of("/w")});
  policy.process_sandbox.unix_sockets = {{AbsPath::of("/run/db.sock")}, {AbsPath::of("/w/own.sock")}, {AbsPath::of("/run/gone.sock")}};
  auto facts = host({"/w"});
  for (const auto* path : {"/run/db.sock", "/w/own.sock"}) facts.paths[path] = {.kind = PathKind::socket};
  const auto out = plan_of(policy, facts);
  const auto text = text_of(out.view);
  EXPECT_NE(text.find("directory /run (empty)\nbind /run/db.sock file (unix_socket)\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("own.sock"), std::string::npos);
  EXPECT_EQ(out.notes, std::vector<std::string>{"the Unix socket '/run/gone.sock' does not exist now and will not be reachable"});
}

TEST(View, DevAndProcAreAlwaysOursAndNamedDevicesAreBound) {
  auto policy = policy_with({});
  policy.process_sandbox.read_roots = {AbsPath::of("/dev"), AbsPath::of("/proc"), AbsPath::of("/sys/dev")};
  policy.process_sandbox.write_roots = {AbsPath::of("/dev/kvm")};
  auto facts = host({"/dev", "/proc"});
  for (const auto* path : {"/dev/kvm", "/dev/null", "/sys/dev"}) facts.paths[path] = {.kind = PathKind::device};
  const auto out = plan_of(policy, facts);
  EXPECT_EQ(text_of(out.view),
            "tmpfs / (root)\n"
            "dev /dev (own devices)\n"
            "bind /dev/kvm file (process_write)\n"
            "directory /home/u (empty)\n"
            "proc /proc (own processes)\n"
            "directory /run (empty)\n"
            "bind_read /sys/dev file (process_read)\n"
            "directory /tmp (empty)\n");
  EXPECT_EQ(out.loose_devices, std::vector<AbsPath>{AbsPath::of("/sys/dev")});
}

TEST(View, NamespacesFollowTheHostAndTheNeed) {
  auto facts = host({"/w"});
  using Names = std::vector<std::string>;
  EXPECT_EQ(plan_of(policy_with({}), facts).view.namespaces, (Names{"user", "mount", "pid", "ipc", "uts"}));
  facts.linux.cgroup = CgroupKind::v2;
  const auto own = plan_of(policy_with({}), facts, {.network = true, .loopback = true}).view;
  EXPECT_EQ(own.namespaces, (Names{"user", "mount", "pid", "ipc", "uts", "cgroup", "net"}));
  EXPECT_TRUE(own.loopback_up);
  facts.linux.pid_namespaces = false;
  const auto shared = plan_of(policy_with({}), facts).view;
  EXPECT_EQ(shared.namespaces, (Names{"user", "mount", "ipc", "uts", "cgroup"}));
  EXPECT_NE(text_of(shared).find("bind_read /proc (no pid namespace)\n"), std::string::npos);
}

}  // namespace
}  // namespace harn::plan

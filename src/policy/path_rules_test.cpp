// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "harn/policy.h"
#include "policy/names.h"

namespace harn {
namespace {

AbsPath p(std::string_view text) { return AbsPath::of(text); }

HostFacts host() {
  HostFacts facts;
  facts.home = p("/home/u");
  facts.cwd = facts.project_root = p("/w");
  facts.search_path = {p("/usr/bin"), p("/srv/tools/bin"), p("/home"), p("/")};
  facts.unlisted = PathKind::directory;
  return facts;
}

Policy workspace() {
  Policy policy;
  policy.workspace_roots = {p("/w")};
  return policy;
}

struct Case {
  const char* path;
  FileOp op;
  bool allowed;
  Origin origin;
};

void expect(const Policy& policy, const HostFacts& facts, std::initializer_list<Case> cases) {
  const auto rules = PathRules::for_processes(policy, facts);
  for (const auto& c : cases) {
    const auto decision = rules.decide(p(c.path), c.op);
    EXPECT_EQ(decision.allowed, c.allowed) << c.path << " " << base::enum_name(c.op);
    EXPECT_EQ(base::enum_name(decision.origin), base::enum_name(c.origin)) << c.path;
  }
}

TEST(PathRules, TheDefaultPolicyOpensTheProjectAndToolsOnly) {
  expect(workspace(), host(),
         {{"/w/src/a.c", FileOp::write, true, Origin::workspace},
          {"/w/src/a.c", FileOp::remove, true, Origin::workspace},
          {"/usr/bin/cc", FileOp::execute, true, Origin::preset},
          {"/usr/bin/cc", FileOp::write, false, Origin::preset},
          {"/home/u/notes.txt", FileOp::read, false, Origin::nothing},
          {"/home/u/.cargo/bin/cargo", FileOp::read, true, Origin::preset},
          {"/home/u/.cargo/credentials.toml", FileOp::read, false, Origin::credential},
          {"/home/u/.ssh/id_ed25519", FileOp::read, false, Origin::nothing},
          {"/etc/shadow", FileOp::read, false, Origin::credential},
          {"/srv/tools/bin/x", FileOp::execute, true, Origin::search_path},
          {"/srv/other", FileOp::read, false, Origin::nothing},
          {"/dev/null", FileOp::write, true, Origin::device},
          {"/dev/sda", FileOp::read, false, Origin::nothing}});
}

TEST(PathRules, APathEntryNeverOpensTheHomeDirectory) {
  expect(workspace(), host(), {{"/home/u/x", FileOp::read, false, Origin::nothing}, {"/boot", FileOp::read, false, Origin::nothing}});
}

TEST(PathRules, ProtectedNamesStayReadOnlyPresentOrAbsent) {
  auto facts = host();
  facts.paths["/w/.vscode"] = {.kind = PathKind::missing};
  expect(workspace(), facts,
         {{"/w/.git/hooks/pre-commit", FileOp::write, false, Origin::protected_},
          {"/w/.git/hooks/pre-commit", FileOp::read, true, Origin::protected_},
          {"/w/.git/config", FileOp::write, false, Origin::protected_},
          {"/w/.git/objects/aa", FileOp::write, true, Origin::workspace},
          {"/w/.vscode/settings.json", FileOp::write, false, Origin::protected_},
          {"/w/harn.toml", FileOp::write, false, Origin::protected_},
          {"/w/sub/harn.toml", FileOp::write, true, Origin::workspace}});
  const auto rules = PathRules::for_processes(workspace(), facts);
  EXPECT_EQ(rules.nearest(p("/w/.vscode"))->kind, PathKind::missing);
}

TEST(PathRules, ARepositoryTheCommandCreatesIsItsOwn) {
  auto facts = host();
  facts.paths["/w/.git"] = {.kind = PathKind::missing};
  expect(workspace(), facts,
         {{"/w/.git/hooks/x", FileOp::write, true, Origin::workspace}, {"/w/.gitmodules", FileOp::write, false, Origin::protected_}});
}

TEST(PathRules, UnprotectLiftsOneNameAndWhatIsBeneath) {
  auto policy = workspace();
  policy.unprotect = {p("/w/.vscode"), p("/w/.idea/codeStyles")};
  expect(policy, host(),
         {{"/w/.vscode/settings.json", FileOp::write, true, Origin::workspace},
          {"/w/.idea/workspace.xml", FileOp::write, false, Origin::protected_},
          {"/w/.idea/codeStyles/x", FileOp::write, true, Origin::workspace},
          {"/w/.envrc", FileOp::write, false, Origin::protected_}});
}

TEST(PathRules, CredentialsYieldOnlyToTheirExactPath) {
  auto policy = workspace();
  policy.read_only_roots = {p("/home/u"), p("/home/u/.ssh/keys")};
  policy.process_sandbox.read_roots = {p("/home/u/.aws")};
  policy.process_sandbox.credentials = {p("/home/u/.config/gh")};
  expect(policy, host(),
         {{"/home/u/notes", FileOp::read, true, Origin::read_only},
          {"/home/u/.ssh/keys/k", FileOp::read, false, Origin::credential},
          {"/home/u/.aws/config", FileOp::read, false, Origin::credential},
          {"/home/u/.config/gh/hosts.yml", FileOp::read, true, Origin::read_only}});
  policy.read_only_roots.reset();
  expect(policy, host(),
         {{"/home/u/.config/gh/hosts.yml", FileOp::read, true, Origin::exposed},
          {"/home/u/.config/gh/hosts.yml", FileOp::write, false, Origin::exposed}});
}

TEST(PathRules, AnotherHomeDoesNotOpenTheAccountsSecrets) {
  auto facts = host();
  facts.account_home = p("/root");
  auto policy = workspace();
  policy.read_only_roots = {p("/root")};
  expect(policy, facts,
         {{"/root/.ssh/id_rsa", FileOp::read, false, Origin::credential}, {"/root/notes", FileOp::read, true, Origin::read_only}});
}

// Lifting a secret of one home must not open the other home's through a link.
TEST(PathRules, ALiftedLinkIntoTheOtherHomeOpensNothingThere) {
  auto facts = host();
  facts.account_home = p("/root");
  facts.paths["/root/.netrc"] = {.kind = PathKind::file, .link_target = p("/home/u/.ssh/netrc")};
  facts.paths["/home/u/.npmrc"] = {.kind = PathKind::file, .link_target = p("/root/.aws/npmrc")};
  auto policy = workspace();
  policy.process_sandbox.credentials = {p("/root/.netrc"), p("/home/u/.npmrc")};
  expect(policy, facts,
         {{"/root/.netrc", FileOp::read, true, Origin::exposed},
          {"/home/u/.ssh/netrc", FileOp::read, false, Origin::nothing},
          {"/root/.aws/npmrc", FileOp::read, false, Origin::nothing}});
}

TEST(PathRules, NamingThePresetOpensItsTokens) {
  auto policy = workspace();
  expect(policy, host(), {{"/home/u/.npmrc", FileOp::read, false, Origin::nothing}});
  policy.process_sandbox.presets = std::set{Preset::package_manager_config};
  expect(policy, host(), {{"/home/u/.npmrc", FileOp::read, true, Origin::exposed}, {"/usr/bin/cc", FileOp::read, false, Origin::nothing}});
}

TEST(PathRules, APresetNeverOpensWhatTheListsDeny) {
  auto policy = workspace();
  policy.process_sandbox.read_deny_roots = {p("/home/u/.cargo"), p("/usr/share/secret")};
  expect(policy, host(),
         {{"/home/u/.cargo/registry/x", FileOp::read, false, Origin::nothing},
          {"/usr/share/secret/x", FileOp::read, false, Origin::deny},
          {"/usr/share/open", FileOp::read, true, Origin::preset}});
}

TEST(PathRules, CapabilitiesTakeAccessAway) {
  auto policy = workspace();
  policy.capabilities = Capabilities{.workspace = {WorkspaceOp::read_text}, .process = {ProcessOp::exec}};
  expect(policy, host(),
         {{"/w/a", FileOp::read, true, Origin::workspace},
          {"/w/a", FileOp::write, false, Origin::workspace},
          {"/w/a", FileOp::remove, false, Origin::workspace}});
  policy.capabilities->workspace = {WorkspaceOp::read_text, WorkspaceOp::delete_};
  expect(policy, host(), {{"/w/a", FileOp::write, false, Origin::workspace}, {"/w/a", FileOp::remove, true, Origin::workspace}});
  policy.capabilities->workspace = {};
  expect(policy, host(), {{"/w/a", FileOp::read, false, Origin::nothing}, {"/usr/bin/cc", FileOp::execute, true, Origin::preset}});
}

TEST(PathRules, ALinkedWorktreeMayCommitButNotPlantHooks) {
  auto facts = host();
  facts.git = {
      {.work_tree = p("/w"), .git_dir = p("/main/.git/worktrees/w"), .common_dir = p("/main/.git"), .alternates = {p("/alt/objects")}}};
  expect(workspace(), facts,
         {{"/main/.git/objects/aa/bb", FileOp::write, true, Origin::git},
          {"/main/.git/refs/heads/x", FileOp::write, true, Origin::git},
          {"/main/.git/worktrees/w/index.lock", FileOp::write, true, Origin::git},
          {"/main/.git/config", FileOp::write, false, Origin::git},
          {"/main/.git/config", FileOp::read, true, Origin::git},
          {"/main/.git/hooks/pre-commit", FileOp::write, false, Origin::git},
          {"/main/.git/hooks/pre-commit", FileOp::read, true, Origin::git},
          {"/main/.git/worktrees/other/index", FileOp::write, false, Origin::git},
          {"/main/src/a.c", FileOp::read, false, Origin::nothing},
          {"/alt/objects/pack", FileOp::read, false, Origin::nothing}});
  auto reader = workspace();
  reader.workspace_roots = std::vector<AbsPath>{};
  reader.read_only_roots = {p("/w")};
  expect(reader, facts, {{"/main/.git/objects/aa", FileOp::write, false, Origin::nothing}});
}

TEST(PathRules, NothingThatRedirectsGitIsWritable) {
  auto facts = host();
  facts.git = {{.work_tree = p("/w"), .git_dir = p("/main/.git/worktrees/w"), .common_dir = p("/main/.git")}};
  for (const auto* path : {"/main/.git/worktrees/w/commondir", "/main/.git/worktrees/w/gitdir", "/main/.git/worktrees/w/config.worktree",
                           "/w/.git", "/main/.git/objects/info/alternates"})
    EXPECT_FALSE(decide(workspace(), facts, p(path), FileOp::write).allowed) << path;
  facts.git.clear();
  EXPECT_FALSE(decide(workspace(), facts, p("/w/.git/commondir"), FileOp::write).allowed);
  facts.git = {{.work_tree = p("/w"),
                .git_dir = p("/w/forged/worktrees/x"),
                .common_dir = p("/w/forged"),
                .alternates = {p("/home/u/private/objects")}}};
  EXPECT_FALSE(decide(workspace(), facts, p("/home/u/private/objects/aa"), FileOp::read).allowed);
}

TEST(PathRules, ARepositoryInsideARootIsGuardedAndOpensNothing) {
  auto facts = host();
  facts.git = {{.work_tree = p("/w/sub"), .git_dir = p("/w/sub/.git"), .common_dir = p("/w/sub/.git")},
               {.work_tree = p("/w/forged"), .git_dir = p("/main/.git"), .common_dir = p("/main/.git")}};
  expect(workspace(), facts,
         {{"/w/sub/.git/hooks/x", FileOp::write, false, Origin::protected_},
          {"/w/sub/.git/config", FileOp::write, false, Origin::protected_},
          {"/w/sub/.git/config", FileOp::read, true, Origin::protected_},
          {"/w/sub/.git/index", FileOp::write, true, Origin::workspace},
          {"/w/forged/.git", FileOp::write, false, Origin::protected_},
          {"/main/.git/objects/aa", FileOp::read, false, Origin::nothing}});
}

TEST(PathRules, TheTargetOfAProtectedLinkIsProtectedToo) {
  auto facts = host();
  facts.paths["/w/.git/hooks"] = {.kind = PathKind::directory, .link_target = p("/w/.githooks")};
  expect(workspace(), facts,
         {{"/w/.githooks/pre-commit", FileOp::write, false, Origin::protected_},
          {"/w/.githooks/pre-commit", FileOp::read, true, Origin::protected_}});
}

TEST(PathRules, AProtectedLinkUpwardsDoesNotCloseTheRootItself) {
  auto facts = host();
  facts.paths["/w/.idea"] = {.kind = PathKind::directory, .link_target = p("/")};
  facts.paths["/w/.vscode"] = {.kind = PathKind::directory, .link_target = p("/w")};
  facts.git = {{.work_tree = p("/w/forged"), .git_dir = p("/w/.."), .common_dir = p("/w/..")}};
  expect(workspace(), facts, {{"/w/a", FileOp::write, true, Origin::workspace}, {"/w/.idea", FileOp::write, false, Origin::protected_}});
}

TEST(PathRules, AWritableMainRepositoryKeepsItsHooksReadOnly) {
  auto facts = host();
  facts.git = {{.work_tree = p("/projects/w"), .git_dir = p("/projects/main/.git/worktrees/w"), .common_dir = p("/projects/main/.git")}};
  Policy policy;
  policy.workspace_roots = {p("/projects")};
  expect(policy, facts,
         {{"/projects/main/.git/hooks/x", FileOp::write, false, Origin::protected_},
          {"/projects/main/.git/config", FileOp::write, false, Origin::protected_},
          {"/projects/main/.git/index", FileOp::write, true, Origin::workspace}});
}

TEST(PathRules, OwnFileOperationsNeverProfitFromProcessSandbox) {
  auto policy = workspace();
  policy.process_sandbox.write_roots = {p("/opt/cache")};
  policy.process_sandbox.read_roots = {p("/opt/sdk")};
  const auto rules = PathRules::for_file_operations(policy, host());
  EXPECT_TRUE(rules.decide(p("/w/a"), FileOp::write).allowed);
  for (const auto* path : {"/opt/cache/x", "/opt/sdk/x", "/usr/bin/cc", "/dev/null"})
    EXPECT_FALSE(rules.decide(p(path), FileOp::read).allowed) << path;
  EXPECT_FALSE(rules.decide(p("/w/harn.toml"), FileOp::write).allowed);
}

TEST(PathRules, WindowsOpensPresetsOnlyWhenNamed) {
  auto facts = host();
  facts.platform = Platform::windows;
  facts.home = p("C:/Users/u");
  Policy policy;
  policy.workspace_roots = {p("C:/w")};
  EXPECT_FALSE(decide(policy, facts, p("C:/Users/u/scoop/x"), FileOp::read).allowed);
  policy.process_sandbox.presets = std::set{Preset::developer_toolchains};
  EXPECT_TRUE(decide(policy, facts, p("C:/Users/u/scoop/x"), FileOp::read).allowed);
}

TEST(PathRules, MacosKnowsBothSpellingsOfItsPrivateDirectories) {
  auto facts = host();
  facts.platform = Platform::macos;
  auto policy = workspace();
  policy.workspace_roots = {p("/tmp/w")};
  policy.process_sandbox.read_deny_roots = {p("/etc")};
  for (const auto* path : {"/tmp/w/a", "/private/tmp/w/a"}) EXPECT_TRUE(decide(policy, facts, p(path), FileOp::write).allowed) << path;
  for (const auto* path : {"/etc/hosts", "/private/etc/hosts"}) EXPECT_FALSE(decide(policy, facts, p(path), FileOp::read).allowed) << path;
}

TEST(PathRules, ASymlinkedCredentialIsClosedAtItsTargetToo) {
  auto facts = host();
  facts.paths["/home/u/.npmrc"] = {.kind = PathKind::file, .link_target = p("/home/u/dotfiles/npmrc")};
  auto policy = workspace();
  policy.read_only_roots = {p("/home/u/dotfiles")};
  expect(policy, facts,
         {{"/home/u/dotfiles/npmrc", FileOp::read, false, Origin::credential},
          {"/home/u/dotfiles/vimrc", FileOp::read, true, Origin::read_only}});
}

TEST(PathRules, TheNetworkLevelOpensTheResolverFileBehindItsLink) {
  auto facts = host();
  facts.paths["/etc/resolv.conf"] = {.kind = PathKind::file, .link_target = p("/run/systemd/resolve/stub-resolv.conf")};
  auto policy = workspace();
  expect(policy, facts, {{"/run/systemd/resolve/stub-resolv.conf", FileOp::read, false, Origin::nothing}});
  policy.side_effect_level = SideEffectLevel::network;
  expect(policy, facts,
         {{"/run/systemd/resolve/stub-resolv.conf", FileOp::read, true, Origin::preset},
          {"/run/systemd/private", FileOp::read, false, Origin::nothing}});
}

TEST(PathRules, DevicesStayUsableWithoutAnyWriteCapability) {
  auto policy = workspace();
  policy.capabilities = Capabilities{.workspace = {WorkspaceOp::read_text}, .process = {ProcessOp::exec}};
  expect(policy, host(), {{"/dev/null", FileOp::write, true, Origin::device}, {"/dev/null", FileOp::remove, false, Origin::device}});
  expect(workspace(), host(), {{"/dev/null", FileOp::remove, false, Origin::device}});
}

TEST(PathRules, NothingLiesBeneathAFile) {
  auto facts = host();
  facts.paths["/w/a"] = {.kind = PathKind::file};
  facts.paths["/w/gone"] = {.kind = PathKind::missing};
  EXPECT_EQ(facts.kind_of(p("/w/a/b")), PathKind::missing);
  EXPECT_EQ(facts.kind_of(p("/w/gone/b")), PathKind::missing);
  EXPECT_EQ(facts.kind_of(p("/w/b")), PathKind::directory);
}

TEST(PathRules, NearestFindsTheRuleAcrossSiblings) {
  Policy policy;
  policy.process_sandbox.presets = std::set<Preset>{};
  policy.workspace_roots = {p("/a")};
  policy.read_only_roots = {p("/a/b/c/d"), p("/a/b")};
  const auto rules = PathRules::for_processes(policy, host());
  EXPECT_EQ(rules.nearest(p("/a/z"))->path, p("/a"));
  EXPECT_EQ(rules.nearest(p("/a/b/z"))->path, p("/a/b"));
  EXPECT_EQ(rules.nearest(p("/zzz")), nullptr);
  EXPECT_EQ(rules.access(p("/zzz")), Access::none);
  EXPECT_EQ(rules.decide(p("/zzz"), FileOp::read), Decision{});
}

TEST(PathRules, TellsTheHostWhatToLookAt) {
  const auto paths = paths_of_interest(workspace(), host());
  const auto has = [&](const char* text) { return std::binary_search(paths.begin(), paths.end(), p(text)); };
  EXPECT_TRUE(has("/w") && has("/w/.git") && has("/w/.git/hooks") && has("/home/u/.ssh") && has("/bin") && has("/usr/bin") &&
              has("/dev/null"));
  const auto lists = directories_to_list(PathRules::for_processes(workspace(), host()));
  EXPECT_TRUE(std::binary_search(lists.begin(), lists.end(), p("/home/u/.cargo")));
  EXPECT_TRUE(std::binary_search(lists.begin(), lists.end(), p("/etc")));
  EXPECT_TRUE(std::binary_search(lists.begin(), lists.end(), p("/etc/ssh")));
  EXPECT_FALSE(std::binary_search(lists.begin(), lists.end(), p("/w")));
}

}  // namespace
}  // namespace harn

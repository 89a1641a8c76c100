// SPDX-License-Identifier: Apache-2.0
#include "harn/probe.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include <gtest/gtest.h>

#include "host/linux/kernel_facts.h"
#include "host/programs.h"
#include "support/temp_dir.h"

namespace harn::host {
namespace {

using test::TempDir;

TEST(Probe, DirectoriesComeResolvedAndPathWithoutNonsense) {
  const TempDir temp;
  temp.directory("real/bin");
  temp.directory("real/project/src");
  temp.file("real/file");
  temp.link("home", "real");
  const auto facts = probe_host({.environment = {{"HOME", temp.path("home").text()},
                                                 {"TMPDIR", "relative"},
                                                 {"PATH", temp.path("home/bin").text() + "::.:relative:" + temp.path("real/bin").text() +
                                                              ":" + temp.path("real/file").text() + ":/nonexistent"}},
                                 .cwd = temp.path("home/project/src")});
  EXPECT_EQ(facts.home, temp.path("real"));
  EXPECT_EQ(facts.cwd, temp.path("real/project/src"));
  EXPECT_EQ(facts.project_root, facts.cwd);
  EXPECT_EQ(facts.search_path, std::vector<AbsPath>{temp.path("real/bin")});
  EXPECT_EQ(facts.platform, Platform::linux);
  EXPECT_EQ(facts.uid, ::geteuid());
  EXPECT_FALSE(facts.linux.kernel.empty());
  EXPECT_EQ(facts.linux.user_namespaces, facts.linux.why_no_user_namespaces.empty());
}

TEST(Probe, APathEntryThatIsALinkOpensNothing) {
  TempDir temp;
  temp.directory("private");
  temp.directory("work");
  temp.link("work/bin", "../private");
  EXPECT_EQ(probe_host({.environment = {{"PATH", temp.path("work/bin").text()}}}).search_path, std::vector<AbsPath>{});
}

TEST(Probe, WithoutHomeTheAccountDecides) {
  const auto facts = probe_host({});
  EXPECT_NE(facts.home, AbsPath::of("/"));
  EXPECT_EQ(facts.search_path, std::vector<AbsPath>{});
}

TEST(Probe, TheNearestHarnTomlMarksTheProject) {
  const TempDir temp;
  temp.file("a/harn.toml");
  temp.file("a/b/harn.toml");
  temp.directory("a/b/c/harn.toml");
  EXPECT_EQ(find_project_root(temp.path("a/b/c")), temp.path("a/b"));
  EXPECT_EQ(find_project_root(temp.path("a")), temp.path("a"));
  EXPECT_EQ(find_project_root(temp.path()), temp.path());
  EXPECT_EQ(probe_host({.cwd = temp.path("a/b/c"), .project_root = temp.path("a")}).project_root, temp.path("a"));
}

TEST(Probe, AStrangersHarnTomlInASharedDirectoryMarksNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make another user's file";
  const TempDir temp;
  temp.file("harn.toml");
  ASSERT_EQ(::chown(temp.path("harn.toml").text().c_str(), 12345, 12345), 0);
  temp.directory("mine");
  EXPECT_EQ(find_project_root(temp.path("mine")), temp.path("mine"));
}

TEST(Probe, LookingFillsWhatThePolicyDependsOn) {
  const TempDir temp;
  temp.directory("home/project/.git");
  temp.file("home/project/harn.toml");
  temp.directory("home/.ssh");
  temp.file("wt/.git", "gitdir: /nonexistent\n");
  auto facts = probe_host({.environment = {{"HOME", temp.path("home").text()}}, .cwd = temp.path("home/project")});
  Policy policy;
  policy.workspace_roots = {temp.path("home/project"), temp.path("wt")};
  policy.read_only_roots = {temp.path("home")};
  facts.linux.user_namespaces = false;
  const auto notes = look_at_paths(facts, policy);
  EXPECT_EQ(notes.size(), 1u);
  EXPECT_EQ(facts.git, std::vector<GitLayout>{});
  EXPECT_EQ(facts.kind_of(temp.path("home/project")), PathKind::directory);
  EXPECT_EQ(facts.kind_of(temp.path("home/project/harn.toml")), PathKind::file);
  EXPECT_EQ(facts.kind_of(temp.path("home/.ssh")), PathKind::directory);
  EXPECT_EQ(facts.kind_of(temp.path("home/project/.envrc")), PathKind::missing);
  // ~/.ssh is closed inside the readable home: backends without denials need the names beside it.
  EXPECT_EQ(facts.paths[temp.path("home").text()].entries, (std::vector<std::string>{".ssh", "project"}));
}

// A backend without denials opens what lies beside a closed name one by one; opening a link would open its target.
TEST(Probe, LinksBesideAClosedNameAreKnownAsLinks) {
  const TempDir temp;
  temp.directory("home/.ssh");
  temp.directory("home/plain");
  temp.directory("private");
  temp.link("home/out", "../private");
  temp.link("home/dangling", "nowhere");
  auto facts = probe_host({.environment = {{"HOME", temp.path("home").text()}}, .cwd = temp.directory("work")});
  Policy policy;
  policy.workspace_roots = {temp.path("work")};
  policy.read_only_roots = {temp.path("home")};
  facts.linux.user_namespaces = true;
  look_at_paths(facts, policy);
  EXPECT_EQ(facts.paths[temp.path("home").text()].entries, std::nullopt) << "a view needs no names";
  facts.linux.user_namespaces = false;
  look_at_paths(facts, policy);
  EXPECT_EQ(facts.paths[temp.path("home").text()].entries, (std::vector<std::string>{".ssh", "dangling", "out", "plain"}));
  ASSERT_TRUE(facts.paths.contains(temp.path("home/out").text()));
  EXPECT_EQ(facts.paths[temp.path("home/out").text()], (PathFact{.kind = PathKind::directory, .link_target = temp.path("private")}));
  EXPECT_FALSE(facts.paths.contains(temp.path("home/plain").text()));
}

// Dotfiles kept in a checkout: what a link of a secret or of a protected name leads to is closed as well,
// and nothing that exists may be taken for absent, because nobody guards what is not there.
TEST(Probe, WhatLinksLeadToIsKnownToExist) {
  const TempDir temp;
  temp.file("work/ssh/id_rsa");
  temp.file("work/netrc");
  temp.file("work/real/rc");
  temp.directory("home");
  temp.link("home/.ssh", temp.path("work/ssh").text());
  temp.link("home/.netrc", temp.path("work/netrc").text());
  temp.link("work/.bashrc", "real/rc");
  auto facts = probe_host({.environment = {{"HOME", temp.path("home").text()}}, .cwd = temp.path("work")});
  Policy policy;
  policy.workspace_roots = {temp.path("work")};
  for (const bool view : {true, false}) {
    facts.linux.user_namespaces = view;
    look_at_paths(facts, policy);
    const auto rules = PathRules::for_processes(policy, facts);
    for (const auto& rule : rules.rules())
      EXPECT_EQ(rule.kind == PathKind::missing, !std::filesystem::exists(rule.path.text())) << rule.path.text();
    EXPECT_EQ(rules.access(temp.path("work/ssh/id_rsa")), Access::none);
    EXPECT_EQ(rules.access(temp.path("work/netrc")), Access::none);
    EXPECT_EQ(rules.access(temp.path("work/real/rc")), Access::read);
  }
}

TEST(KernelFacts, UserNamespacesFollowTheSwitches) {
  struct Case {
    std::string_view most, clone, apparmor;
    std::uint32_t uid;
    NamespaceVerdict verdict;
  };
  const Case cases[] = {
      {"", "", "", 0, {false, "the kernel has no user namespaces"}},
      {"0", "", "", 0, {false, "user.max_user_namespaces is 0"}},
      {"100", "", "", 1000, {true, ""}},
      {"100", "0", "", 1000, {false, "kernel.unprivileged_userns_clone is 0"}},
      {"100", "0", "1", 0, {true, ""}},
      {"100", "1", "1", 1000, {false, "kernel.apparmor_restrict_unprivileged_userns is 1"}},
      {"100", "1", "0", 1000, {true, ""}},
  };
  for (const auto& c : cases) {
    const TempDir temp;
    const auto put = [&](std::string_view name, std::string_view text) {
      if (!text.empty()) temp.file(std::string("sys/") + std::string(name), std::string(text) + "\n");
    };
    put("user/max_user_namespaces", c.most);
    put("kernel/unprivileged_userns_clone", c.clone);
    put("kernel/apparmor_restrict_unprivileged_userns", c.apparmor);
    EXPECT_EQ(judge_user_namespaces(c.uid, {.proc = temp.path()}), c.verdict) << c.most << c.clone << c.apparmor;
  }
}

TEST(KernelFacts, SeccompIsReadFromTheListOfActions) {
  const TempDir temp;
  const KernelFiles files{.proc = temp.path()};
  EXPECT_FALSE(kernel_facts(0, files).seccomp);
  temp.file("sys/kernel/seccomp/actions_avail", "kill_process kill_thread trap errno trace log allow\n");
  EXPECT_TRUE(kernel_facts(0, files).seccomp);
  EXPECT_FALSE(kernel_facts(0, files).seccomp_notify);
  temp.file("sys/kernel/seccomp/actions_avail", "errno user_notif allow\n");
  EXPECT_TRUE(kernel_facts(0, files).seccomp_notify);
}

TEST(Programs, AreFoundInFixedDirectoriesOnly) {
  const TempDir temp;
  temp.file("one/docker");
  temp.file("two/docker");
  temp.file("two/bwrap");
  temp.directory("two/podman");
  ASSERT_EQ(::chmod(temp.path("two/bwrap").text().c_str(), 0755), 0);
  const std::string one = temp.path("one").text();
  const std::string two = temp.path("two").text();
  const std::string_view directories[] = {one, two};
  const std::map<std::string, Tool> expected = {
      {"bubblewrap", {.path = temp.path("two/bwrap"), .works = true}},
      {"docker", {.path = temp.path("one/docker"), .why_not = "it is not executable by this user"}}};
  EXPECT_EQ(find_programs(directories), expected);
  for (const auto directory : program_directories()) EXPECT_TRUE(directory.starts_with('/'));
}

}  // namespace
}  // namespace harn::host

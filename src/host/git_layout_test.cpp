// SPDX-License-Identifier: Apache-2.0
#include "host/git_layout.h"

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace harn::host {
namespace {

using test::TempDir;

class GitLayoutTest : public testing::Test {
 protected:
  // A repository at main/.git with the linked worktree `wt`, as git lays them out.
  GitLayoutTest() {
    make_repository("main/.git");
    temp.file("main/.git/worktrees/wt/gitdir", temp.path("wt/.git").text() + "\n");
    temp.file("main/.git/worktrees/wt/commondir", "../..\n");
    temp.file("wt/.git", "gitdir: " + temp.path("main/.git/worktrees/wt").text() + "\n");
  }

  void make_repository(const std::string& at) const {
    temp.directory(at + "/objects/info");
    temp.directory(at + "/objects/pack");
    temp.directory(at + "/refs");
    temp.file(at + "/HEAD", "ref: refs/heads/main\n");
  }

  GitLayout expected() const {
    return {.work_tree = temp.path("wt"), .git_dir = temp.path("main/.git/worktrees/wt"), .common_dir = temp.path("main/.git")};
  }
  std::string note(std::string_view why) const {
    return "'" + temp.path("wt/.git").text() + "' names a git directory that " + std::string(why) + ": it stays closed";
  }

  TempDir temp;
};

TEST_F(GitLayoutTest, ALinkedWorktreeIsFound) {
  const auto found = find_git_layout(temp.path("wt"));
  EXPECT_EQ(found.layout, expected());
  EXPECT_EQ(found.note, "");
}

TEST_F(GitLayoutTest, RelativePointersAreFollowed) {
  temp.file("wt/.git", "gitdir: ../main/.git/worktrees/wt\n");
  temp.file("main/.git/worktrees/wt/gitdir", "../../../../wt/.git\n");
  EXPECT_EQ(find_git_layout(temp.path("wt")).layout, expected());
}

TEST_F(GitLayoutTest, OrdinaryRepositoriesAndPlainDirectoriesNeedNothing) {
  for (const auto* tree : {"main", "none"}) {
    const auto found = find_git_layout(temp.path(tree));
    EXPECT_EQ(found.layout, std::nullopt);
    EXPECT_EQ(found.note, "");
  }
}

TEST_F(GitLayoutTest, APointerIntoAnotherRepositoryIsNotBelieved) {
  make_repository("victim/.git");
  temp.file("wt/.git", "gitdir: " + temp.path("victim/.git").text() + "\n");
  EXPECT_EQ(find_git_layout(temp.path("wt")).layout, std::nullopt);
  EXPECT_EQ(find_git_layout(temp.path("wt")).note, note("does not point back"));
}

TEST_F(GitLayoutTest, APointerToAWorktreeOfSomebodyElseIsNotBelieved) {
  temp.file("main/.git/worktrees/wt/gitdir", temp.path("other/.git").text() + "\n");
  temp.file("other/.git", "gitdir: x\n");
  EXPECT_EQ(find_git_layout(temp.path("wt")).note, note("does not point back"));
}

// The command can write a git directory of its own into the work tree, and let its commondir name
// any repository of the user's.
TEST_F(GitLayoutTest, AForgedGitDirectoryInTheWorkTreeOpensNoOtherRepository) {
  make_repository("victim/.git");
  temp.file("wt/forged/gitdir", temp.path("wt/.git").text() + "\n");
  temp.file("wt/forged/commondir", temp.path("victim/.git").text() + "\n");
  temp.file("wt/.git", "gitdir: forged\n");
  EXPECT_EQ(find_git_layout(temp.path("wt")).layout, std::nullopt);
  EXPECT_EQ(find_git_layout(temp.path("wt")).note, note("is not a worktree of its repository"));
}

TEST_F(GitLayoutTest, ALinkToAnotherRepositorysWorktreesDirectoryOpensNothing) {
  make_repository("victim/.git");
  temp.directory("victim/.git/worktrees");
  temp.file("wt/repo/worktrees_here/x/gitdir", temp.path("wt/.git").text() + "\n");
  temp.file("wt/repo/worktrees_here/x/commondir", temp.path("victim/.git").text() + "\n");
  temp.link("wt/repo/worktrees", "worktrees_here");
  temp.file("wt/.git", "gitdir: repo/worktrees/x\n");
  EXPECT_EQ(find_git_layout(temp.path("wt")).layout, std::nullopt);
}

TEST_F(GitLayoutTest, NonsenseIsIgnoredWithANote) {
  for (const std::string& text :
       {std::string("gitdir: /nonexistent\n"), std::string("gitdir:\n"), std::string(""), std::string("hello"),
        std::string("gitdir: a\nb\n"), std::string("gitdir: \0x\n", 12), std::string(10000, 'x'), std::string("gitdir: /etc/passwd\n")}) {
    temp.file("wt/.git", text);
    EXPECT_EQ(find_git_layout(temp.path("wt")).layout, std::nullopt) << text;
    EXPECT_EQ(find_git_layout(temp.path("wt")).note, note("does not exist")) << text;
  }
}

TEST_F(GitLayoutTest, ARepositoryThatLacksItsPartsIsNotBelieved) {
  std::filesystem::remove(temp.path("main/.git/HEAD").text());
  EXPECT_EQ(find_git_layout(temp.path("wt")).note, note("is not a worktree of its repository"));
}

TEST_F(GitLayoutTest, AlternatesMustBeObjectStores) {
  make_repository("shared/.git");
  temp.directory("secrets/objects");
  temp.file("main/.git/objects/info/alternates", "# comment\n" + temp.path("shared/.git/objects").text() +
                                                     "\n../../../shared/.git/objects\n" + temp.path("secrets/objects").text() +
                                                     "\n/etc\n/nonexistent/objects\n\n");
  auto layout = expected();
  layout.alternates = {temp.path("shared/.git/objects")};
  EXPECT_EQ(find_git_layout(temp.path("wt")).layout, layout);
}

TEST_F(GitLayoutTest, ARepositoryInsideTheWorkTreeNamesNoAlternates) {
  make_repository("shared/.git");
  make_repository("wt/inner");
  temp.file("wt/inner/objects/info/alternates", temp.path("shared/.git/objects").text() + "\n");
  temp.file("wt/inner/worktrees/x/gitdir", temp.path("wt/.git").text() + "\n");
  temp.file("wt/inner/worktrees/x/commondir", "../..\n");
  temp.file("wt/.git", "gitdir: inner/worktrees/x\n");
  const auto found = find_git_layout(temp.path("wt"));
  ASSERT_TRUE(found.layout);
  EXPECT_EQ(found.layout->alternates, std::vector<AbsPath>{});
}

TEST_F(GitLayoutTest, ARepositoryInsideARootIsGuardedAndOpensNothing) {
  const auto guarded = [&](const char* top, const char* git) {
    return std::optional<GitLayout>({.work_tree = temp.path(top), .git_dir = temp.path(git), .common_dir = temp.path(git)});
  };
  EXPECT_EQ(find_nested_repository(temp.path("main")), guarded("main", "main/.git"));
  EXPECT_EQ(find_nested_repository(temp.path("wt")), guarded("wt", "main/.git/worktrees/wt"));
  temp.directory("half/.git");
  EXPECT_EQ(find_nested_repository(temp.path("half")), guarded("half", "half/.git"));
  temp.directory("plain");
  EXPECT_EQ(find_nested_repository(temp.path("plain")), std::nullopt);
  temp.file("plain/.git", "gitdir: ../none\n");
  EXPECT_EQ(find_nested_repository(temp.path("plain")), std::nullopt);
}

TEST(GitLayout, WhatGitFollowsInsideARepositoryIsKnown) {
  const TempDir temp;
  temp.file("r/.git/modules/third_party/lib/HEAD");
  temp.file("r/.git/modules/third_party/lib/modules/inner/HEAD");
  temp.directory("r/.git/worktrees/wt");
  const auto found = trusted_beneath(temp.path("r/.git"));
  const auto has = [&](std::string_view name) { return std::ranges::find(found, temp.path("r/.git").join(name)) != found.end(); };
  for (const auto* name : {"modules/third_party/lib/config", "modules/third_party/lib/hooks", "modules/third_party/lib/commondir",
                           "modules/third_party/lib/modules/inner/config", "worktrees/wt/commondir", "worktrees/wt/gitdir"})
    EXPECT_TRUE(has(name)) << name;
  EXPECT_FALSE(has("modules/third_party/config"));
  EXPECT_TRUE(trusted_beneath(temp.path("none")).empty());
  // Whoever makes more than can be named has closed the place.
  for (int i = 0; i < 70; ++i) {
    temp.directory("r/.git/worktrees/w" + std::to_string(i));
    temp.file("r/.git/modules/m" + std::to_string(i) + "/HEAD");
  }
  EXPECT_EQ(trusted_beneath(temp.path("r/.git")), (std::vector{temp.path("r/.git/modules"), temp.path("r/.git/worktrees")}));
}

}  // namespace
}  // namespace harn::host

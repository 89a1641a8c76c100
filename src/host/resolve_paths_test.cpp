// SPDX-License-Identifier: Apache-2.0
#include "host/resolve_paths.h"

#include <cerrno>

#include <gtest/gtest.h>

#include "harn/probe.h"
#include "support/temp_dir.h"

namespace harn::host {
namespace {

using test::TempDir;

TEST(ResolvePaths, LinksAreFollowedAsFarAsThePathExists) {
  const TempDir temp;
  temp.file("real/f");
  temp.link("link", "real");
  temp.link("dangling", "nowhere");
  struct Case {
    std::string_view path, whole, parent_only;
  };
  for (const auto& c : {Case{"real/f", "real/f", "real/f"}, Case{"link", "real", "link"}, Case{"link/f", "real/f", "real/f"},
                        Case{"link/new/name", "real/new/name", "real/new/name"}, Case{"dangling", "dangling", "dangling"},
                        Case{"real/f/below", "real/f/below", "real/f/below"}}) {
    EXPECT_EQ(resolve_existing(temp.path(c.path)), temp.path(c.whole)) << c.path;
    EXPECT_EQ(resolve_parent(temp.path(c.path)), temp.path(c.parent_only)) << c.path;
  }
  EXPECT_EQ(resolve_existing(AbsPath::of("/")), AbsPath::of("/"));
  EXPECT_EQ(resolve_parent(AbsPath::of("/")), AbsPath::of("/"));
}

TEST(ResolvePaths, ALinkIntoNothingLeadsWhereAWriteWouldGo) {
  const TempDir temp;
  temp.directory("real");
  temp.link("link", "real");
  temp.link("first", "link/second");
  temp.link("real/second", temp.path("real/none").text());
  temp.link("loop", "loop");
  EXPECT_EQ(resolve_links(temp.path("first")), temp.path("real/none"));
  EXPECT_EQ(resolve_links(temp.path("link")), temp.path("real"));
  EXPECT_EQ(resolve_links(temp.path("absent")), temp.path("absent"));
  EXPECT_EQ(resolve_links(temp.path("loop")).error().os_error, ELOOP);
}

TEST(ResolvePaths, ARootThatIsALinkOutOfAWritableRootIsRefused) {
  const TempDir temp;
  temp.directory("work/real");
  temp.directory("private");
  temp.link("work/out", "../private");
  temp.link("work/in", "real");
  Policy policy;
  policy.workspace_roots = {temp.path("work"), temp.path("work/in")};
  EXPECT_TRUE(resolve_policy_paths(policy));
  policy.workspace_roots->push_back(temp.path("work/out"));
  EXPECT_EQ(resolve_policy_paths(policy).error().code, ErrorCode::refused);
  policy.workspace_roots->pop_back();
  policy.process_sandbox.read_roots = {temp.path("work/out")};
  EXPECT_EQ(resolve_policy_paths(policy).error().code, ErrorCode::refused);
}

TEST(ResolvePaths, TheWayNamesEveryLinkWhereItStands) {
  const TempDir temp;
  temp.directory("a/deep");
  temp.directory("b");
  temp.link("a/deep/up", "../../b");
  temp.link("first", "a/deep/up/second");
  temp.link("b/second", temp.path("b/none").text());
  const auto way = way_to(temp.path("first"));
  ASSERT_TRUE(way);
  EXPECT_EQ(way->links, (std::vector<AbsPath>{temp.path("first"), temp.path("a/deep/up"), temp.path("b/second")}));
  EXPECT_EQ(way->end, temp.path("b/none"));
  EXPECT_EQ(way_to(temp.path("a/deep"))->links, std::vector<AbsPath>{});
  EXPECT_EQ(way_to(temp.path("a/absent/x"))->end, temp.path("a/absent/x"));
  temp.link("loop", "loop");
  EXPECT_EQ(way_to(temp.path("loop")).error().os_error, ELOOP);
}

TEST(ResolvePaths, LinksAreJudgedByTheRootsOfEveryLayer) {
  const TempDir temp;
  temp.directory("work");
  temp.directory("private");
  temp.link("work/out", "../private");
  temp.link("shortcut", "private");
  const auto reading = [&](const char* name) {
    Policy policy;
    policy.read_only_roots = {temp.path(name)};
    return policy;
  };
  Policy writing;
  writing.process_sandbox.write_roots = {temp.path("work")};
  EXPECT_TRUE(check_planted_links({reading("work/out")}, {}));
  EXPECT_FALSE(check_planted_links({reading("work/out")}, {temp.path("work")}));
  EXPECT_FALSE(check_planted_links({reading("work/out"), writing}, {}));
  EXPECT_TRUE(check_planted_links({reading("shortcut"), writing}, {temp.path("work")}));
  Policy itself;
  itself.workspace_roots = {temp.path("work/out")};
  EXPECT_FALSE(check_planted_links({itself}, {temp.path("work")}));
  Policy socket;
  socket.process_sandbox.unix_sockets = {{temp.path("work/out/s")}};
  EXPECT_FALSE(check_planted_links({socket}, {temp.path("work")}));
  Policy lifted;
  lifted.unprotect = {temp.path("work/out")};
  EXPECT_TRUE(check_planted_links({lifted}, {temp.path("work")}));
  lifted.unprotect = {temp.path("work/out/.envrc")};
  EXPECT_FALSE(check_planted_links({lifted}, {temp.path("work")}));
}

TEST(ResolvePaths, FactsSayWhereALinkLeads) {
  const TempDir temp;
  temp.directory("real");
  temp.link("link", "real");
  temp.link("dangling", "nowhere");
  EXPECT_EQ(look_at(temp.path("real")), (PathFact{.kind = PathKind::directory}));
  EXPECT_EQ(look_at(temp.path("link")), (PathFact{.kind = PathKind::directory, .link_target = temp.path("real")}));
  EXPECT_EQ(look_at(temp.path("dangling")), PathFact{});
  EXPECT_EQ(look_at(AbsPath::of("/dev/null")).kind, PathKind::device);
}

TEST(ResolvePaths, EveryPathOfAPolicyIsResolved) {
  const TempDir temp;
  temp.directory("real");
  temp.link("link", "real");
  Policy policy;
  policy.workspace_roots = {temp.path("link")};
  policy.read_only_roots = {temp.path("link/a")};
  policy.unprotect = {temp.path("link/.envrc"), temp.path("link")};
  policy.process_sandbox.read_roots = {temp.path("link")};
  policy.process_sandbox.write_roots = {temp.path("link")};
  policy.process_sandbox.read_deny_roots = {temp.path("link/secret")};
  policy.process_sandbox.credentials = {temp.path("link")};
  policy.process_sandbox.unix_sockets = {{temp.path("link/socket"), true}};

  Policy expected;
  expected.workspace_roots = {temp.path("real")};
  expected.read_only_roots = {temp.path("real/a")};
  expected.unprotect = {temp.path("real/.envrc"), temp.path("link")};
  expected.process_sandbox.read_roots = {temp.path("real")};
  expected.process_sandbox.write_roots = {temp.path("real")};
  expected.process_sandbox.read_deny_roots = {temp.path("real/secret")};
  expected.process_sandbox.credentials = {temp.path("link")};
  expected.process_sandbox.unix_sockets = {{temp.path("real/socket"), true}};
  EXPECT_EQ(resolve_policy_paths(policy), expected);
  EXPECT_EQ(resolve_policy_paths(Policy{}), Policy{});
}

TEST(ResolvePaths, ALoopIsAnErrorThatNamesThePath) {
  const TempDir temp;
  temp.link("a", "b");
  temp.link("b", "a");
  Policy policy;
  policy.process_sandbox.read_deny_roots = {temp.path("a/x")};
  const auto got = resolve_policy_paths(policy);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().os_error, ELOOP);
  EXPECT_EQ(got.error().message, "the path '" + temp.path("a/x").text() + "' runs in a circle of symbolic links");
}

}  // namespace
}  // namespace harn::host

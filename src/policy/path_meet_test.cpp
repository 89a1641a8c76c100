// SPDX-License-Identifier: Apache-2.0
// Worked examples of the path meet; tests/laws holds the laws.
#include <gtest/gtest.h>

#include "policy/meet.h"
#include "policy/path_model.h"

namespace harn::policy {
namespace {

AbsPath p(std::string_view text) { return AbsPath::of(text); }

Policy workspace(std::vector<AbsPath> roots) {
  Policy policy;
  policy.workspace_roots = std::move(roots);
  return policy;
}

TEST(PathMeet, TheDeeperOfNestedRootsWins) {
  EXPECT_EQ(meet(workspace({p("/w")}), workspace({p("/w/sub"), p("/x")})).workspace_roots, std::vector{p("/w/sub")});
}

TEST(PathMeet, AccessInCommonCrossesLists) {
  auto reader = workspace({});
  reader.read_only_roots = {p("/w/docs")};
  const auto both = meet(workspace({p("/w")}), reader);
  EXPECT_EQ(both.workspace_roots, std::vector<AbsPath>{});
  EXPECT_EQ(both.read_only_roots, std::vector{p("/w/docs")});

  auto process = workspace({});
  process.process_sandbox.write_roots = {p("/w/cache")};
  EXPECT_EQ(meet(workspace({p("/w")}), process).process_sandbox.write_roots, std::vector{p("/w/cache")});
}

TEST(PathMeet, DenialsOfEitherSideStay) {
  auto a = workspace({p("/w")});
  a.process_sandbox.read_deny_roots = {p("/w/secret")};
  auto b = workspace({p("/w"), p("/w/secret/open")});
  b.process_sandbox.read_deny_roots = {p("/w/other")};
  const auto both = meet(a, b);
  EXPECT_EQ(both.process_sandbox.read_deny_roots, (std::vector{p("/w/other"), p("/w/secret")}));
  EXPECT_EQ(both.workspace_roots, std::vector{p("/w")});
}

TEST(PathMeet, AProtectedNameOfALargerRootStaysProtected) {
  const auto both = meet(workspace({p("/w")}), workspace({p("/w/.vscode"), p("/w/.git")}));
  EXPECT_EQ(PathModel(both).value("/w/.vscode/settings.json"), (PathValue{Access::read, Ruled::read}));
  EXPECT_EQ(PathModel(both).value("/w/.git/hooks/pre-commit"), (PathValue{Access::read, Ruled::read}));
  EXPECT_EQ(PathModel(both).value("/w/.git/objects"), (PathValue{Access::write, Ruled::write}));
}

TEST(PathMeet, UnprotectNeedsBothSides) {
  auto lifted = workspace({p("/w")});
  lifted.unprotect = {p("/w/.vscode")};
  EXPECT_EQ(meet(lifted, workspace({p("/w")})).unprotect, std::nullopt);
  EXPECT_EQ(meet(lifted, lifted).unprotect, std::vector{p("/w/.vscode")});
}

TEST(PathMeet, AnUnresolvedProjectRootSharesNothingWithANamedOne) {
  EXPECT_EQ(meet(Policy{}, workspace({p("/w")})).workspace_roots, std::vector<AbsPath>{});
  EXPECT_EQ(meet(Policy{}, Policy{}).workspace_roots, std::nullopt);
}

TEST(PathModel, TheMostSpecificListDecidesAndDenyBeatsWriteBeatsRead) {
  Policy policy = workspace({p("/w"), p("/e"), p("/f")});
  policy.read_only_roots = {p("/w/ro"), p("/e")};
  policy.process_sandbox.write_roots = {p("/w/ro/cache")};
  policy.process_sandbox.read_roots = {p("/lib"), p("/w/vendor")};
  policy.process_sandbox.read_deny_roots = {p("/w/ro/cache/x"), p("/f")};
  const PathModel model(policy);
  const std::tuple<const char*, Access, Ruled> table[] = {
      {"/w/a", Access::write, Ruled::write},         {"/w/ro/a", Access::read, Ruled::read},
      {"/w/ro/cache/a", Access::read, Ruled::write}, {"/w/ro/cache/x/y", Access::none, Ruled::deny},
      {"/lib/a", Access::none, Ruled::read},         {"/e", Access::write, Ruled::write},
      {"/f/a", Access::none, Ruled::deny},           {"/other", Access::none, Ruled::unruled},
      {"/w/vendor/a", Access::read, Ruled::read},    {"/wx", Access::none, Ruled::unruled}};
  for (const auto& [path, file, process] : table) EXPECT_EQ(model.value(path), (PathValue{file, process})) << path;
}

}  // namespace
}  // namespace harn::policy

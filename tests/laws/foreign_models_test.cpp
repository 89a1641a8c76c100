// SPDX-License-Identifier: Apache-2.0
// The models that judge our foreign plans, judged themselves: by hand-written cases whose answers come
// from the systems' documentation and sources, not from our lowerings.
#include <gtest/gtest.h>

#include "support/acl_model.h"
#include "support/sbpl.h"
#include "support/unveil_model.h"

namespace harn::test {
namespace {

std::string problem_with(std::string_view text) {
  std::string problem;
  return SbplProfile::parse(text, problem) ? std::string() : problem;
}

SbplProfile profile(std::string_view rules) {
  std::string problem;
  auto out = SbplProfile::parse("(version 1)(deny default)" + std::string(rules), problem);
  EXPECT_TRUE(out) << problem;
  return out.value_or(SbplProfile{});
}

TEST(SbplModel, RefusesWhatTheLanguageDoesNotKnow) {
  EXPECT_EQ(problem_with("(version 1)(deny default)(allow file-read* (subpath \"/a\"))"), "");
  EXPECT_EQ(problem_with("(deny default)"), "does not begin with (version 1)");
  EXPECT_EQ(problem_with("(version 1)(allow file-reed*)"), "unknown operation file-reed*");
  EXPECT_EQ(problem_with("(version 1)(allow file-read* (sub-path \"/a\"))"), "unknown filter sub-path");
  EXPECT_EQ(problem_with("(version 1)(allow file-read* (subpath /a))"), "unknown filter subpath");
  EXPECT_EQ(problem_with("(version 1)(permit file-read*)"), "neither allow nor deny: permit");
  EXPECT_EQ(problem_with("(version 1)(allow (subpath \"/a\"))"), "a rule without an operation");
  for (const auto* text :
       {"(version 1)(allow file-read*", "(version 1))", "(version 1)(allow file-read* (subpath \"/a))", "(version 1)\"\\x0g\""})
    EXPECT_EQ(problem_with(text), "not well formed") << text;
}

TEST(SbplModel, TheLastMatchDecides) {
  const auto found = profile(
      R"((allow file-read* (subpath "/a")) (deny file-read-data (subpath "/a/b")) (allow file-read* (literal "/a/b/c")) ; (allow default)
                               )");
  EXPECT_TRUE(found.allows("file-read-data", "/a"));
  EXPECT_FALSE(found.allows("file-read-data", "/ab"));
  EXPECT_FALSE(found.allows("file-read-data", "/a/b"));
  EXPECT_TRUE(found.allows("file-read-metadata", "/a/b"));
  EXPECT_TRUE(found.allows("file-read-data", "/a/b/c"));
  EXPECT_FALSE(found.allows("file-read-data", "/a/b/c/d"));
  EXPECT_FALSE(found.allows("file-write-data", "/a"));
}

TEST(SbplModel, ReadsEscapesAndExpressions) {
  const auto found = profile(R"sb((allow file-read* (literal "/q\"\\\n\x01z") (regex "^/x\\.[yY](/|$)")))sb");
  EXPECT_TRUE(found.allows("file-read-data", "/q\"\\\n\x01z"));
  EXPECT_TRUE(found.allows("file-read-data", "/x.Y/below"));
  EXPECT_FALSE(found.allows("file-read-data", "/xxy"));
}

TEST(SbplModel, AnAddressOfOursIsNotTheOtherEnd) {
  const auto found = profile(R"((allow network-outbound (local ip "localhost:*")))");
  EXPECT_TRUE(found.allows(SbplAttempt{.operation = "network-outbound", .local = "localhost:1", .remote = "93.184.216.34:443"}));
  const auto stricter = profile(R"((allow network-outbound (remote ip "localhost:80")))");
  EXPECT_FALSE(stricter.allows(SbplAttempt{.operation = "network-outbound", .local = "localhost:1", .remote = "93.184.216.34:80"}));
  EXPECT_FALSE(stricter.allows(SbplAttempt{.operation = "network-outbound", .local = "localhost:1", .remote = "localhost:81"}));
  EXPECT_TRUE(stricter.allows(SbplAttempt{.operation = "network-outbound", .local = "localhost:1", .remote = "localhost:80"}));
}

HostFacts anywhere() {
  HostFacts facts;
  facts.unlisted = PathKind::directory;
  facts.paths["/w/absent"] = {.kind = PathKind::missing};
  facts.paths["/gone"] = {.kind = PathKind::missing};
  facts.paths["/gone/name"] = {.kind = PathKind::missing};
  return facts;
}

PledgeUnveil unveiled(std::vector<Unveil> entries) {
  return {
      .unveils = std::move(entries), .promises = {"stdio", "rpath", "exec"}, .exec_promises = {"stdio", "rpath", "wpath", "cpath", "exec"}};
}

TEST(UnveilModel, WithoutExecPromisesTheCommandIsFree) {
  auto plan = unveiled({{AbsPath::of("/w"), "r"}});
  EXPECT_EQ(UnveilModel::load(plan, anywhere())->at(AbsPath::of("/etc")), (PathVerdict{}));
  plan.exec_promises.clear();
  const auto model = UnveilModel::load(plan, anywhere());
  EXPECT_EQ(model->at(AbsPath::of("/etc")), (PathVerdict{true, true, true}));
  EXPECT_TRUE(model->reaches_hosts());
}

TEST(UnveilModel, TheNearestEntryDecidesEvenToHide) {
  const auto model =
      UnveilModel::load(unveiled({{AbsPath::of("/w"), "rwxc"}, {AbsPath::of("/w/a"), ""}, {AbsPath::of("/w/a/b"), "rx"}}), anywhere());
  ASSERT_TRUE(model);
  EXPECT_EQ(model->at(AbsPath::of("/w/x")), (PathVerdict{true, true, true}));
  EXPECT_EQ(model->at(AbsPath::of("/w/a/x")), (PathVerdict{}));
  EXPECT_EQ(model->at(AbsPath::of("/w/a/b/x")), (PathVerdict{true, false, false}));
  EXPECT_TRUE(model->executes(AbsPath::of("/w/a/b/x")));
  EXPECT_FALSE(model->executes(AbsPath::of("/w/a")));
}

TEST(UnveilModel, RefusesCallsTheKernelRefuses) {
  EXPECT_TRUE(UnveilModel::load(unveiled({{AbsPath::of("/w/absent"), "r"}}), anywhere()));
  EXPECT_FALSE(UnveilModel::load(unveiled({{AbsPath::of("/gone/name"), "r"}}), anywhere()));
  EXPECT_FALSE(UnveilModel::load(unveiled({{AbsPath::of("/w"), "rq"}}), anywhere()));
  auto plan = unveiled({});
  plan.exec_promises.push_back("everything");
  EXPECT_FALSE(UnveilModel::load(plan, anywhere()));
  plan = unveiled({});
  plan.promises = {"stdio"};
  EXPECT_FALSE(UnveilModel::load(plan, anywhere()));
  for (int i = 0; i < 129; ++i) plan.unveils.push_back({AbsPath::of("/d/" + std::to_string(i)), "r"});
  plan.promises = {"stdio", "rpath", "exec"};
  EXPECT_FALSE(UnveilModel::load(plan, anywhere()));
}

TEST(AclModel, GrantsAddUpUntilInheritanceStops) {
  const auto at = [](std::string_view path) { return AbsPath::of(path); };
  const AppContainer container{.grants = {{.path = at("C:/w"), .modify = true},
                                          {.path = at("C:/w/a"), .modify = false},
                                          {.path = at("C:/w/b"), .stops_inheritance = true},
                                          {.path = at("C:/w/b/c"), .modify = false},
                                          {.path = at("C:/w/f"), .inherit = false, .stops_inheritance = true},
                                          {.path = at("C:/w/f"), .modify = false, .inherit = false}}};
  const AclModel model(container, at("C:/"));
  EXPECT_EQ(model.at(at("C:/w/x")), (PathVerdict{true, true, true}));
  EXPECT_EQ(model.at(at("C:/w/a/x")), (PathVerdict{true, true, true}));
  EXPECT_EQ(model.at(at("C:/w/b/x")), (PathVerdict{}));
  EXPECT_EQ(model.at(at("C:/w/b/c/x")), (PathVerdict{true, false, false}));
  EXPECT_EQ(model.at(at("C:/w/f")), (PathVerdict{true, false, false}));
  EXPECT_EQ(model.at(at("C:/other")), (PathVerdict{}));
  EXPECT_EQ(model.at(at("C:/Windows/System32")), (PathVerdict{true, false, false}));
}

}  // namespace
}  // namespace harn::test

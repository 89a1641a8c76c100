// SPDX-License-Identifier: Apache-2.0
#include "learn/needs.h"

#include <gtest/gtest.h>

namespace harn::learn {
namespace {

AbsPath p(std::string_view text) { return AbsPath::of(text); }

class NeedsTest : public testing::Test {
 protected:
  NeedsTest() {
    facts_.home = p("/home/u");
    facts_.cwd = facts_.project_root = p("/w");
    facts_.unlisted = PathKind::directory;
    facts_.linux.user_namespaces = facts_.linux.network_namespaces = true;
    policy_.workspace_roots = {{p("/w")}};
    rules_ = PathRules::for_processes(policy_, facts_);
  }
  Needs needs() {
    return Needs({.facts = facts_, .project = p("/w"), .kind_of = [this](const AbsPath& path) {
                    const auto found = kinds_.find(path.text());
                    return found == kinds_.end() ? PathKind::file : found->second;
                  }});
  }
  Needs::Run run() const { return {.rules = rules_, .network = false, .temp = true}; }
  static Denial denial(std::string access, std::string target) {
    return {.access = std::move(access), .call = "openat", .target = std::move(target), .rule = "no grant covers it"};
  }

  HostFacts facts_;
  Policy policy_;
  PathRules rules_;
  std::map<std::string, PathKind> kinds_ = {};
};

TEST_F(NeedsTest, ARefusedFileIsNeededForReading) {
  auto seen = needs();
  EXPECT_TRUE(seen.take_denial(denial("read", "/home/u/notes"), run()));
  EXPECT_FALSE(seen.take_denial(denial("read", "/home/u/notes"), run())) << "known";
  ASSERT_TRUE(seen.paths().contains(p("/home/u/notes")));
  EXPECT_EQ(seen.paths().at(p("/home/u/notes")).access, Access::read);
  EXPECT_TRUE(seen.take_denial(denial("write", "/srv/notes"), run()));
  EXPECT_EQ(seen.paths().at(p("/srv/notes")).access, Access::write);
}

TEST_F(NeedsTest, ANewNameNeedsTheDirectoryThatIsThere) {
  kinds_["/home/u/out/new"] = kinds_["/home/u/out"] = PathKind::missing;
  kinds_["/data"] = PathKind::directory;
  auto seen = needs();
  seen.take_denial(denial("create", "/data/x"), run());
  EXPECT_TRUE(seen.paths().contains(p("/data")));
  EXPECT_FALSE(seen.take_denial(denial("create", "/home/u/out/new"), run())) << "the home directory is all there is";
  EXPECT_FALSE(seen.paths().contains(p("/home/u")));
  EXPECT_EQ(seen.withheld().size(), 1u);
}

TEST_F(NeedsTest, SecretsNeedAYes) {
  auto seen = needs();
  EXPECT_FALSE(seen.take_denial(denial("read", "/home/u/.ssh/id_rsa"), run()));
  EXPECT_TRUE(seen.paths().empty());
  ASSERT_EQ(seen.withheld().size(), 1u);
  EXPECT_EQ(seen.withheld()[0].why, "a secret");
  seen.say_yes("/home/u/.ssh/id_rsa");
  EXPECT_FALSE(seen.take_denial(denial("read", "/home/u/.ssh/id_rsa"), run())) << "the grant would open every key";
  seen.say_yes(seen.withheld()[0].what);
  EXPECT_TRUE(seen.take_denial(denial("read", "/home/u/.ssh/id_rsa"), run()));
  EXPECT_TRUE(seen.paths().empty()) << "it is no grant but an exposed credential";
  EXPECT_EQ(seen.credentials().size(), 1u);
}

TEST_F(NeedsTest, ProtectedNamesNeedAYesAlsoWhereNoRootIsAroundThem) {
  auto seen = needs();
  EXPECT_FALSE(seen.take_denial(denial("write", "/w/.vscode/settings.json"), run()));
  EXPECT_FALSE(seen.take_denial(denial("write", "/home/u/.bashrc"), run()));
  EXPECT_FALSE(seen.take_denial(denial("create", "/home/u/other/.claude/x"), run()));
  EXPECT_FALSE(seen.take_denial(denial("create", "/home/u/other/.git/hooks/pre-commit"), run()));
  EXPECT_TRUE(seen.paths().empty());
  EXPECT_EQ(seen.withheld().size(), 4u);
  seen.say_yes("/w/.vscode");
  EXPECT_TRUE(seen.take_denial(denial("write", "/w/.vscode/settings.json"), run()));
  EXPECT_TRUE(seen.unprotected().contains(p("/w/.vscode")));
}

// What a program writes there another one runs or trusts, and not only under names we know.
TEST_F(NeedsTest, OfTheHomeDirectoryOnlyCachesAreWrittenWithoutAYes) {
  auto seen = needs();
  kinds_["/home/u/.local/bin/x"] = PathKind::missing;
  for (const auto* path : {"/home/u/.gitconfig", "/home/u/.config/autostart/x", "/home/u/.local/bin/x", "/home/u/notes"})
    EXPECT_FALSE(seen.take_denial(denial("write", path), run())) << path;
  for (const auto* path : {"/home/u/.cache/tool/x", "/home/u/.npm/_cacache/x", "/home/u/.npm/_logs/x"})
    EXPECT_TRUE(seen.take_denial(denial("write", path), run())) << path;
  EXPECT_EQ(seen.paths().size(), 3u);
  seen.say_yes("/home/u/notes");
  EXPECT_TRUE(seen.take_denial(denial("write", "/home/u/notes"), run()));
}

TEST_F(NeedsTest, TheSystemIsNotWrittenWithoutAYes) {
  auto seen = needs();
  EXPECT_FALSE(seen.take_denial(denial("write", "/usr/lib/x"), run()));
  EXPECT_TRUE(seen.paths().empty());
}

TEST_F(NeedsTest, DirectoriesThatWereOnlyLookedAtAreNotOpened) {
  kinds_["/home/u/photos"] = PathKind::directory;
  auto seen = needs();
  EXPECT_FALSE(seen.take_denial(denial("find", "/home/u/photos"), run()));
  EXPECT_TRUE(seen.paths().empty());
  EXPECT_TRUE(seen.take_denial(denial("read", "/home/u/photos"), run())) << "it was listed";
}

TEST_F(NeedsTest, WhatWorkedInAPlaceOfTheRunsOwnIsNoNeed) {
  auto seen = needs();
  seen.take_worked({.call = "openat", .wanted = Wanted::making, .target = "/home/u/.cache/x", .worked = true}, run());
  EXPECT_TRUE(seen.paths().empty());
  seen.take_worked({.call = "openat", .wanted = Wanted::reading, .target = "/usr/lib/libc.so", .worked = true}, run());
  EXPECT_TRUE(seen.paths().empty());
  EXPECT_TRUE(seen.system());
  seen.take_worked({.call = "openat", .wanted = Wanted::reading, .target = "/home/u/.gitconfig", .worked = true}, run());
  EXPECT_TRUE(seen.paths().contains(p("/home/u/.gitconfig"))) << "a preset opened it";
}

TEST_F(NeedsTest, SocketsAndAddressesThatAreNotPublicNeedAYes) {
  auto seen = needs();
  EXPECT_FALSE(seen.take_denial(denial("connect", "/run/docker.sock"), run()));
  EXPECT_EQ(seen.withheld()[0].access, "connect");
  const Denial local{.access = "host",
                     .call = "connect",
                     .target = "10.0.0.1:80",
                     .rule = "the address is not public, and no rule names it",
                     .remedy = "--allow-host 10.0.0.1:80"};
  EXPECT_FALSE(seen.take_denial(local, run()));
  seen.say_yes("10.0.0.1:80");
  EXPECT_TRUE(seen.take_denial(local, run()));
  const Denial name{
      .access = "host", .call = "resolve", .target = "example.org", .rule = "no rule admits it", .remedy = "--allow-host example.org"};
  EXPECT_TRUE(seen.take_denial(name, run()));
  EXPECT_EQ(seen.hosts().size(), 2u);
}

TEST_F(NeedsTest, TheNetworkIsTriedStepByStepWhereSingleHostsCanBeOpened) {
  const Denial closed{
      .access = "call", .call = "socket", .target = "AF_INET SOCK_STREAM", .rule = "the network is closed", .remedy = "--net allowed"};
  auto seen = needs();
  EXPECT_TRUE(seen.take_denial(closed, run()));
  EXPECT_TRUE(seen.network());
  facts_.linux.user_namespaces = false;
  auto bare = needs();
  EXPECT_FALSE(bare.take_denial(closed, run()));
  EXPECT_EQ(bare.withheld().size(), 1u);
}

}  // namespace
}  // namespace harn::learn

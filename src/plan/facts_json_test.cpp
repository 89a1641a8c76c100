// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "harn/plan.h"

namespace harn {
namespace {

HostFacts full_facts() {
  HostFacts facts;
  facts.name = "linux-6.12";
  facts.platform = Platform::linux;
  facts.os_version = "Debian 13";
  facts.uid = 1000;
  facts.gid = 1000;
  facts.home = AbsPath::of("/home/me");
  facts.temp = AbsPath::of("/tmp");
  facts.cwd = AbsPath::of("/home/me/p/src");
  facts.project_root = AbsPath::of("/home/me/p");
  facts.search_path = {AbsPath::of("/usr/bin"), AbsPath::of("/home/me/.cargo/bin")};
  facts.linux = {.kernel = "6.12.3",
                 .arch = "aarch64",
                 .landlock_abi = 6,
                 .seccomp = true,
                 .seccomp_notify = true,
                 .user_namespaces = true,
                 .pid_namespaces = true,
                 .network_namespaces = true,
                 .cgroup = CgroupKind::v2,
                 .why_no_user_namespaces = "-"};
  facts.tools["bubblewrap"] = {.path = AbsPath::of("/usr/bin/bwrap"), .version = "0.8.0", .works = true, .why_not = "-"};
  facts.paths["/bin"] = {.kind = PathKind::directory, .link_target = AbsPath::of("/usr/bin")};
  facts.paths["/home/me/p"] = {.kind = PathKind::directory, .entries = std::vector<std::string>{"src", "\xff"}};
  facts.paths["/home/me/p/empty"] = {.kind = PathKind::directory, .entries = std::vector<std::string>{}};
  facts.paths["/tmp/\xfe"] = {.kind = PathKind::file};
  facts.unlisted = PathKind::directory;
  facts.git = {{.work_tree = AbsPath::of("/home/me/p"),
                .git_dir = AbsPath::of("/g/worktrees/p"),
                .common_dir = AbsPath::of("/g"),
                .alternates = {AbsPath::of("/o")}}};
  return facts;
}

TEST(FactsJson, EveryMemberComesBackExactly) {
  for (const auto& facts : {HostFacts{}, full_facts()}) {
    const auto back = facts_from_json(facts_to_json(facts));
    ASSERT_TRUE(back) << describe(back.error());
    EXPECT_EQ(*back, facts);
  }
}

TEST(FactsJson, AnEmptyObjectIsAnEmptyLinuxHost) {
  EXPECT_EQ(facts_to_json(HostFacts{}, -1), "{}");
  const auto facts = facts_from_json("{}");
  ASSERT_TRUE(facts);
  EXPECT_EQ(*facts, HostFacts{});
}

TEST(FactsJson, PathsAreWrittenShortByHand) {
  const auto facts = facts_from_json(R"({"platform": "windows", "home": "C:\\Users\\me",
      "tools": {"docker": {"path": "/usr/bin/docker"}},
      "paths": {"/usr//lib/": "directory", "C:\\Windows": {"kind": "directory", "entries": ["System32"]},
                "/bin": {"kind": "directory", "link_target": "/usr/bin"}}})");
  ASSERT_TRUE(facts) << describe(facts.error());
  HostFacts expected;
  expected.platform = Platform::windows;
  expected.home = AbsPath::of("C:/Users/me");
  expected.tools["docker"].path = AbsPath::of("/usr/bin/docker");
  expected.paths["/usr/lib"].kind = PathKind::directory;
  expected.paths["C:/Windows"] = {.kind = PathKind::directory, .entries = std::vector<std::string>{"System32"}};
  expected.paths["/bin"] = {.kind = PathKind::directory, .link_target = AbsPath::of("/usr/bin")};
  EXPECT_EQ(*facts, expected);
}

TEST(FactsJson, MistakesAreNamedWithTheirPlace) {
  struct Case {
    std::string_view text, said;
  };
  const Case cases[] = {
      {R"({"plattform": "linux"})", "the member 'plattform' is not known here (did you mean 'platform'?)"},
      {R"({"platform": "macosx"})", "/platform: 'macosx' is not a valid word here (did you mean 'macos'?)"},
      {R"({"uid": 4294967296})", "/uid: the number 4294967296 is out of range here"},
      {R"({"linux": {"landlock_abi": "6"}})", "/linux/landlock_abi: expected an integer, got a string"},
      {R"({"linux": {"landlock_abi": 4294967296}})", "/linux/landlock_abi: the number 4294967296 is out of range here"},
      {R"({"paths": {"usr": "directory"}})", "/paths/usr: the path 'usr' is not absolute (write it from the root, or with ~/)"},
      {R"({"paths": {"/usr": "dir"}})",
       "/paths/~1usr: 'dir' is not a valid word here (use one of missing, directory, file, device, socket, other)"},
      {R"({"paths": {"/a~": {}}})", "/paths/~1a~0: the member 'kind' is missing"},
      {R"({"paths": {"/a": "file", "/a/": "file"}})", "/paths/~1a~1: the path stands twice, in two spellings (keep one of them)"},
      {R"({"tools": {"docker": {}}})", "/tools/docker: the member 'path' is missing"},
      {R"([])", "expected an object, got a list"},
  };
  for (const auto& c : cases) {
    const auto facts = facts_from_json(c.text);
    ASSERT_FALSE(facts) << c.text;
    EXPECT_EQ(describe(facts.error()), c.said);
  }
}

}  // namespace
}  // namespace harn

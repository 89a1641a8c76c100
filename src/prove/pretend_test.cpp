// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "harn/prove.h"

namespace harn {
namespace {

HostFacts rich() {
  HostFacts facts;
  facts.name = "this host";
  facts.linux = {.landlock_abi = 7,
                 .seccomp = true,
                 .seccomp_notify = true,
                 .user_namespaces = true,
                 .pid_namespaces = true,
                 .network_namespaces = true,
                 .cgroup = CgroupKind::v2};
  facts.tools["bubblewrap"] = {.path = AbsPath::of("/usr/bin/bwrap"), .works = true};
  return facts;
}

TEST(Pretend, TakesAwayWhatIsNamedAndNothingElse) {
  auto facts = rich();
  ASSERT_TRUE(pretend(facts, "landlock=3,netns=no,bubblewrap=no,firejail=no"));
  auto expected = rich();
  expected.linux.landlock_abi = 3;
  expected.linux.network_namespaces = false;
  expected.tools["bubblewrap"].works = false;
  expected.tools["bubblewrap"].why_not = "HARN_PRETEND takes it away";
  expected.name = "this host, pretending landlock=3,netns=no,bubblewrap=no,firejail=no";
  EXPECT_EQ(facts, expected);
}

TEST(Pretend, WithoutUserNamespacesThereIsNoNamespaceAtAll) {
  auto facts = rich();
  ASSERT_TRUE(pretend(facts, "userns=no,seccomp=no,cgroup=no"));
  EXPECT_EQ(facts.linux, (LinuxFacts{.landlock_abi = 7, .why_no_user_namespaces = "HARN_PRETEND takes them away"}));
}

TEST(Pretend, NeverAddsAnything) {
  HostFacts poor;
  poor.linux.landlock_abi = 2;
  auto facts = poor;
  ASSERT_TRUE(pretend(facts, "landlock=7"));
  facts.name.clear();
  EXPECT_EQ(facts, poor);
  EXPECT_TRUE(pretend(facts, ""));
  EXPECT_EQ(facts, poor);
}

TEST(Pretend, TyposAreErrorsWithTheNearestName) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"landlok=3", "HARN_PRETEND names 'landlok' (did you mean 'landlock'?)"},
      {"userns=yes", "HARN_PRETEND has 'userns=yes' (write userns=no: it only takes away)"},
      {"userns", "HARN_PRETEND has 'userns' (write userns=no: it only takes away)"},
      {"landlock=7x", "HARN_PRETEND has 'landlock=7x' (write landlock=no, or landlock=N for an ABI)"},
      {"landlock=-1", "HARN_PRETEND has 'landlock=-1' (write landlock=no, or landlock=N for an ABI)"},
      {"seccomp=0", "HARN_PRETEND has 'seccomp=0' (write seccomp=no: it only takes away)"},
      {"netns=no,",
       "HARN_PRETEND names '' (use landlock, userns, netns, seccomp, notify, getfd, cgroup, bubblewrap, firejail, sandbox-exec, unveil, "
       "pledge)"},
  };
  for (const auto& [text, expected] : cases) {
    HostFacts facts;
    const auto status = pretend(facts, text);
    ASSERT_FALSE(status) << text;
    EXPECT_EQ(describe(status.error()), expected);
  }
}

}  // namespace
}  // namespace harn

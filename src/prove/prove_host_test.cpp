// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>

#include <gtest/gtest.h>

#include "harn/probe.h"
#include "harn/prove.h"
#include "prove/facts_cache.h"
#include "prove/mechanisms.h"
#include "support/temp_dir.h"

namespace harn {
namespace {

using test::TempDir;

HostFacts claims(const TempDir& temp) {
  return probe_host(
      {.environment = {{"HOME", temp.directory("home").text()}, {"TMPDIR", temp.directory("tmp").text()}}, .cwd = temp.directory("work")});
}

TEST(ProveHost, EveryMechanismIsEitherProvedOrExplained) {
  const TempDir temp;
  const auto proved = prove_host(claims(temp));
  ASSERT_TRUE(proved) << describe(proved.error());
  std::set<std::string> names;
  for (const auto& finding : proved->findings) {
    names.insert(finding.mechanism);
    EXPECT_NE(finding.works, finding.how.empty()) << finding.mechanism;
    EXPECT_TRUE(finding.works || !finding.why_not.empty()) << finding.mechanism;
  }
  for (const auto* name : {"view", "network_namespace", "landlock", "seccomp", "seccomp_notify", "cgroup", "together"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(ProveHost, FactsSayWhatTheFindingsSay) {
  const TempDir temp;
  const auto proved = prove_host(claims(temp));
  ASSERT_TRUE(proved) << describe(proved.error());
  std::map<std::string, bool> works;
  for (const auto& finding : proved->findings) works[finding.mechanism] = finding.works;
  const auto& linux = proved->linux;
  EXPECT_EQ(works["landlock"], linux.landlock_abi > 0);
  EXPECT_EQ(works["seccomp"], linux.seccomp);
  EXPECT_EQ(works["seccomp_notify"], linux.seccomp_notify);
  EXPECT_EQ(works["view"], linux.user_namespaces && linux.pid_namespaces);
  EXPECT_EQ(works["network_namespace"], linux.network_namespaces);
  EXPECT_EQ(works["cgroup"], linux.cgroup != CgroupKind::none);
  EXPECT_EQ(linux.user_namespaces, linux.why_no_user_namespaces.empty());
  for (const auto& [name, tool] : proved->tools) EXPECT_EQ(works[name], tool.works) << name;
}

TEST(ProveHost, LeavesNothingBehind) {
  const TempDir temp;
  ASSERT_TRUE(prove_host(claims(temp)));
  EXPECT_TRUE(std::filesystem::is_empty(temp.path("tmp").text()));
  EXPECT_TRUE(std::filesystem::is_empty(temp.path("work").text()));
}

TEST(ProveHost, AToolThatOnlyPretendsToConfineDoesNotWork) {
  const TempDir temp;
  auto facts = claims(temp);
  // Runs the command as it is, everything after "--", and reports its end as the real one does.
  const auto liar = temp.file("bwrap",
                              "#!/bin/bash\nwhile [ \"$1\" != -- ]; do [ \"$1\" = --json-status-fd ] && report=$2; shift; done; shift\n"
                              "\"$@\"; code=$?; eval \"echo '{ \\\"exit-code\\\": $code }' >&$report\"; exit $code\n");
  ::chmod(liar.text().c_str(), 0755);
  facts.tools = {{"bubblewrap", {.path = liar, .works = true}}};
  const auto proved = prove_host(facts);
  ASSERT_TRUE(proved) << describe(proved.error());
  EXPECT_EQ(proved->tools.at("bubblewrap"), (Tool{.path = liar, .why_not = "a file outside could be read from inside"}));
}

TEST(ProveHost, AToolThatFailsIsQuoted) {
  const TempDir temp;
  auto facts = claims(temp);
  const auto broken = temp.file("bwrap", "#!/bin/sh\necho 'bwrap: no luck today' >&2\nexit 1\n");
  ::chmod(broken.text().c_str(), 0755);
  facts.tools = {{"bubblewrap", {.path = broken, .works = true}}};
  const auto proved = prove_host(facts);
  ASSERT_TRUE(proved) << describe(proved.error());
  EXPECT_EQ(proved->tools.at("bubblewrap").why_not, "bubblewrap could not set up the sandbox or start the command: bwrap: no luck today");
}

TEST(ProveHost, ATrialThatNothingRefusesIsAFailure) {
  const TempDir temp;
  const auto ground = prove::ProvingGround::make(claims(temp));
  ASSERT_TRUE(ground) << describe(ground.error());
  const auto canary = ground->canary().text();
  run::Trial open{.what = "read the canary",
                  .calls = {{.number = SYS_openat,
                             .arguments = {static_cast<std::uintptr_t>(AT_FDCWD), reinterpret_cast<std::uintptr_t>(canary.c_str()), 0}}}};
  const auto status = prove::try_layers(ground->bare_plan({}), {open});
  ASSERT_FALSE(status);
  EXPECT_TRUE(status.error().message.starts_with("the boundary does not hold: could not find it refused to read the canary"))
      << status.error().message;
}

TEST(SettleFacts, RemembersAndDoesNotTryAgain) {
  const TempDir temp;
  auto first = claims(temp);
  ASSERT_TRUE(settle_facts(first, temp.path("state")));
  // What is remembered is believed: here it says something no trial would.
  auto altered = first;
  altered.linux.why_no_user_namespaces = "remembered";
  prove::keep_facts(temp.path("state"), prove::facts_key(claims(temp)), altered);
  auto second = claims(temp);
  ASSERT_TRUE(settle_facts(second, temp.path("state")));
  EXPECT_EQ(second.linux.why_no_user_namespaces, "remembered");
}

TEST(SettleFacts, WhereNothingCanBeTriedNothingIsBelieved) {
  const TempDir temp;
  auto facts = claims(temp);
  facts.temp = AbsPath::of("/proc/nowhere");
  const auto settled = settle_facts(facts, temp.path("state"));
  ASSERT_FALSE(settled);
  EXPECT_TRUE(settled.error().message.starts_with("mkdtemp")) << settled.error().message;
  EXPECT_EQ(facts.linux.landlock_abi, 0);
  EXPECT_FALSE(facts.linux.user_namespaces || facts.linux.seccomp);
  EXPECT_TRUE(facts.linux.why_no_user_namespaces.starts_with("mkdtemp")) << facts.linux.why_no_user_namespaces;
  EXPECT_FALSE(std::filesystem::exists(temp.path("state").text()));
}

}  // namespace
}  // namespace harn

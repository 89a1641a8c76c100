// SPDX-License-Identifier: Apache-2.0
#include "prove/facts_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace harn::prove {
namespace {

using test::TempDir;

HostFacts some_facts() {
  HostFacts facts;
  facts.linux = {.kernel = "6.12.3", .landlock_abi = 6, .seccomp = true, .user_namespaces = true, .cgroup = CgroupKind::v2};
  facts.tools["bubblewrap"] = {.path = AbsPath::of("/usr/bin/bwrap"), .works = true};
  return facts;
}

// A /proc of our own making.
struct FakeProc {
  TempDir dir = {};

  FakeProc() {
    set("sys/kernel/random/boot_id", "b1\n");
    set("sys/user/max_user_namespaces", "15000\n");
    set("self/status", "Name:\tharn\nCapEff:\t00\nCapBnd:\t00\nNoNewPrivs:\t0\nSeccomp:\t0\nSeccomp_filters:\t0\nVmPeak:\t1 kB\n");
    set("self/cgroup", "0::/user.slice\n");
    dir.link("self/ns/user", "user:[4026531837]");
    dir.link("self/ns/mnt", "mnt:[4026531841]");
  }
  void set(std::string_view name, std::string_view text) const { dir.file(name, text); }
  FactsKey key(const HostFacts& claimed = some_facts()) const { return facts_key(claimed, dir.path()); }
};

TEST(FactsCache, KeepsWhatWasProvedForItsOwnerAlone) {
  const TempDir state;
  const FactsKey key{.boot = "b1", .whole = "k1\n"};
  EXPECT_FALSE(load_facts(state.path(), key));
  keep_facts(state.path(), key, some_facts());
  EXPECT_EQ(load_facts(state.path(), key), some_facts());
  struct stat status = {};
  ASSERT_EQ(::stat(facts_file(state.path(), key).text().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
}

TEST(FactsCache, AnotherKeyIsAnotherFile) {
  const TempDir state;
  keep_facts(state.path(), {.boot = "b1", .whole = "k1\n"}, some_facts());
  EXPECT_FALSE(load_facts(state.path(), {.boot = "b1", .whole = "k2\n"}));
  keep_facts(state.path(), {.boot = "b1", .whole = "k2\n"}, {});
  EXPECT_EQ(load_facts(state.path(), {.boot = "b1", .whole = "k1\n"}), some_facts());
}

TEST(FactsCache, EarlierBootsAreForgotten) {
  const TempDir state;
  const FactsKey old{.boot = "b1", .whole = "k1\n"};
  keep_facts(state.path(), old, some_facts());
  keep_facts(state.path(), {.boot = "b2", .whole = "k2\n"}, some_facts());
  EXPECT_FALSE(std::filesystem::exists(facts_file(state.path(), old).text()));
}

TEST(FactsCache, WhatOthersCouldHaveWrittenDoesNotCount) {
  const TempDir state;
  const FactsKey key{.boot = "b1", .whole = "k1\n"};
  const auto file = facts_file(state.path(), key).text();
  const auto directory = facts_file(state.path(), key).parent().text();
  keep_facts(state.path(), key, some_facts());
  ASSERT_EQ(::chmod(file.c_str(), 0620), 0);
  EXPECT_FALSE(load_facts(state.path(), key));
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  ASSERT_EQ(::chmod(directory.c_str(), 0777), 0);
  EXPECT_FALSE(load_facts(state.path(), key));
  ASSERT_EQ(::chmod(directory.c_str(), 0700), 0);
  ASSERT_TRUE(load_facts(state.path(), key));
  // A link, wherever it leads.
  std::filesystem::rename(file, file + ".moved");
  std::filesystem::create_symlink(file + ".moved", file);
  EXPECT_FALSE(load_facts(state.path(), key));
}

TEST(FactsCache, AStrangersFileDoesNotCount) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make another user's file";
  const TempDir state;
  const FactsKey key{.boot = "b1", .whole = "k1\n"};
  keep_facts(state.path(), key, some_facts());
  ASSERT_EQ(::chown(facts_file(state.path(), key).text().c_str(), 12345, 12345), 0);
  EXPECT_FALSE(load_facts(state.path(), key));
}

TEST(FactsCache, BrokenFilesAreIgnoredAndWrittenAgain) {
  const TempDir state;
  const FactsKey key{.boot = "b1", .whole = "k1\n"};
  keep_facts(state.path(), key, some_facts());
  const auto file = facts_file(state.path(), key).text();
  std::ifstream stream(file, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(stream), {}};
  for (std::size_t length = 0; length < whole.size(); ++length) {
    std::ofstream(file, std::ios::binary) << whole.substr(0, length);
    EXPECT_FALSE(load_facts(state.path(), key)) << length;
  }
  for (const auto& text : {"k2\n" + whole.substr(3), whole + "x", std::string(1 << 20, 'x')}) {
    std::ofstream(file, std::ios::binary) << text;
    EXPECT_FALSE(load_facts(state.path(), key)) << text.substr(0, 40);
  }
  keep_facts(state.path(), key, some_facts());
  EXPECT_EQ(load_facts(state.path(), key), some_facts());
}

TEST(FactsCache, APlaceThatCannotBeWrittenIsNoError) {
  keep_facts(AbsPath::of("/proc/nowhere"), {.boot = "b1", .whole = "k1\n"}, some_facts());
  EXPECT_FALSE(load_facts(AbsPath::of("/proc/nowhere"), {.boot = "b1", .whole = "k1\n"}));
}

TEST(FactsKey, ChangesWithEverythingTheFactsDependOn) {
  const FakeProc proc;
  const auto before = proc.key().whole;
  const auto changes = [&](std::string_view file, std::string_view text) {
    const FakeProc other;
    other.set(file, text);
    return other.key().whole != before;
  };
  EXPECT_EQ(FakeProc().key().whole, before);
  EXPECT_TRUE(changes("sys/kernel/random/boot_id", "b2\n"));
  EXPECT_TRUE(changes("sys/user/max_user_namespaces", "0\n"));
  EXPECT_TRUE(changes("sys/kernel/unprivileged_userns_clone", "0\n"));
  EXPECT_TRUE(changes("sys/kernel/apparmor_restrict_unprivileged_userns", "1\n"));
  EXPECT_TRUE(changes("self/attr/current", "docker-default (enforce)\n"));
  EXPECT_TRUE(changes("self/cgroup", "0::/other\n"));
  for (const auto* line : {"CapEff:\t01", "CapBnd:\t01", "NoNewPrivs:\t1", "Seccomp:\t2", "Seccomp_filters:\t1"})
    EXPECT_TRUE(changes("self/status", line)) << line;
}

TEST(FactsKey, IgnoresWhatChangesByTheMinute) {
  const FakeProc proc;
  const auto before = proc.key().whole;
  proc.set("self/status", "Name:\tother\nCapEff:\t00\nCapBnd:\t00\nNoNewPrivs:\t0\nSeccomp:\t0\nSeccomp_filters:\t0\nVmPeak:\t9 kB\n");
  EXPECT_EQ(proc.key().whole, before);
}

TEST(FactsKey, ChangesWithTheUserTheNamespaceTheKernelAndTheTools) {
  const FakeProc proc;
  const auto before = proc.key().whole;
  auto facts = some_facts();
  facts.uid = 4711;
  EXPECT_NE(proc.key(facts).whole, before);
  facts = some_facts();
  facts.linux.kernel = "6.12.4";
  EXPECT_NE(proc.key(facts).whole, before);
  const auto tool = proc.dir.file("bwrap", "one");
  facts = some_facts();
  facts.tools["bubblewrap"].path = tool;
  const auto with_tool = proc.key(facts).whole;
  EXPECT_NE(with_tool, before);
  proc.dir.file("bwrap", "other");
  EXPECT_NE(proc.key(facts).whole, with_tool);
  for (const auto* name : {"self/ns/user", "self/ns/mnt"}) {
    const FakeProc other;
    std::filesystem::remove(other.dir.path(name).text());
    EXPECT_NE(other.key().whole, before) << name;
  }
}

}  // namespace
}  // namespace harn::prove

// SPDX-License-Identifier: Apache-2.0
// What learning asks about, leaves out, keeps and says.
#include <sys/stat.h>

#include <filesystem>

#include <gtest/gtest.h>

#include "learn/learning.h"

namespace harn::test {
namespace {

bool says(const Learning::Learned& learned, std::string_view text) { return learned.said.find(text) != std::string::npos; }

class Learn : public testing::TestWithParam<Stand> {
 protected:
  Learning learning_{GetParam()};
  bool has_view() const { return GetParam().tier == Tier::view; }
};

TEST_P(Learn, SecretsAreLeftOutAndSaidUntilSomebodySaysYes) {
  constexpr std::string_view script = "cat {H}/.netrc {H}/.ssh/id_rsa 2>/dev/null; true";
  const auto without = learning_.learn({}, script);
  EXPECT_EQ(without.exit_code, 0) << without.said;
  EXPECT_FALSE(without.opens(learning_.fill("{H}/.netrc"))) << without.text;
  EXPECT_TRUE(says(without, learning_.fill("--yes-for {H}/.netrc"))) << without.said;
  const auto with = learning_.learn({"--yes-for", learning_.fill("{H}/.netrc")}, "cat {H}/.netrc");
  EXPECT_EQ(with.exit_code, 0) << with.said;
  EXPECT_EQ(with.policy->process_sandbox.credentials, std::vector<AbsPath>{AbsPath::of(learning_.fill("{H}/.netrc"))}) << with.text;
  EXPECT_FALSE(with.opens(learning_.fill("{H}/.ssh/id_rsa")));
  EXPECT_EQ(learning_.run_learned("cat {H}/.netrc").exit_code, 0);
  EXPECT_NE(learning_.run_learned("cat {H}/.ssh/id_rsa").exit_code, 0);
}

TEST_P(Learn, ProtectedNamesAreLeftOutUntilSomebodySaysYes) {
  learning_.prepare("mkdir .vscode; echo 1 > .vscode/settings.json");
  constexpr std::string_view script = "echo 2 > .vscode/settings.json";
  const auto without = learning_.learn({}, script);
  EXPECT_EQ(without.exit_code, 1) << "it fails without, and that is said: " << without.said;
  EXPECT_TRUE(says(without, "not proved")) << without.said;
  EXPECT_FALSE(without.policy->unprotect);
  std::filesystem::remove(learning_.policy_file());
  const auto with = learning_.learn({"--yes-for", learning_.fill("{P}/.vscode")}, script);
  EXPECT_EQ(with.exit_code, 0) << with.said << with.text;
  EXPECT_EQ(learning_.run_learned(script).exit_code, 0);
}

TEST_P(Learn, TheWholeHomeIsNeverGranted) {
  const auto listed = learning_.learn({}, "ls {H} {H}/.config > /dev/null; true");
  EXPECT_EQ(listed.exit_code, 0) << listed.said;
  for (const auto& path : listed.paths()) EXPECT_NE(path, learning_.person().home()) << listed.text;
  EXPECT_FALSE(listed.opens(learning_.fill("{H}/private/diary"))) << listed.text;
  EXPECT_FALSE(listed.opens(learning_.fill("{H}/.config/other/settings"))) << listed.text;
}

TEST_P(Learn, ManyFilesOfADirectoryBecomeTheDirectory) {
  learning_.prepare("mkdir {O}/many {O}/few; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $i > {O}/many/$i; done; echo 1 > {O}/few/1");
  const auto learned = learning_.learn({}, "cat {O}/few/1; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do cat {O}/many/$i || exit 1; done");
  ASSERT_EQ(learned.exit_code, 0) << learned.said;
  EXPECT_EQ(learned.policy->process_sandbox.read_roots,
            (std::vector<AbsPath>{AbsPath::of(learning_.fill("{O}/few/1")), AbsPath::of(learning_.fill("{O}/many"))}))
      << learned.text;
}

TEST_P(Learn, WhatItWritesIsDiscardedWhereThereAreLayers) {
  learning_.prepare("mkdir {O}/d sub; echo old > sub/f");
  constexpr std::string_view script = "echo new > sub/f && echo x > {O}/d/made && echo x > sub/made";
  const auto learned = learning_.learn({}, script);
  ASSERT_EQ(learned.exit_code, 0) << learned.said << learned.text;
  EXPECT_EQ(learned.policy->workspace_roots, std::vector<AbsPath>{AbsPath::of(learning_.fill("{P}/sub"))}) << learned.text;
  EXPECT_EQ(learned.policy->process_sandbox.write_roots, std::vector<AbsPath>{AbsPath::of(learning_.fill("{O}/d"))}) << learned.text;
  EXPECT_EQ(std::filesystem::exists(learning_.fill("{P}/sub/made")), !has_view());
  EXPECT_EQ(std::filesystem::exists(learning_.fill("{O}/d/made")), !has_view());
  EXPECT_EQ(says(learned, "what the runs change stays"), !has_view()) << learned.said;
  EXPECT_EQ(read_whole(learning_.fill("{P}/sub/f")), has_view() ? "old\n" : "new\n");
  learning_.learn({"--keep"}, script);
  EXPECT_EQ(read_whole(learning_.fill("{P}/sub/f")), "new\n");
  EXPECT_TRUE(std::filesystem::exists(learning_.fill("{O}/d/made")));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(learning_.person().home()))
    EXPECT_EQ(entry.path().string().find("/learn-"), std::string::npos) << "its own files are gone too: " << entry.path();
}

TEST_P(Learn, AnExistingPolicyIsAddedToAndWhatItGrantsInVainIsSaid) {
  learning_.prepare("echo 1 > {O}/one; echo 2 > {O}/two; mkdir {O}/never");
  ASSERT_EQ(learning_.learn({}, "cat {O}/one").exit_code, 0);
  const auto both = learning_.learn({}, "cat {O}/two");
  ASSERT_EQ(both.exit_code, 0) << both.said;
  EXPECT_TRUE(both.opens(learning_.fill("{O}/one")) && both.opens(learning_.fill("{O}/two"))) << both.text;
  EXPECT_TRUE(says(both, "granted before and not used")) << both.said;
  EXPECT_TRUE(says(both, learning_.fill("process_sandbox.read_roots {O}/one"))) << both.said;
  const auto pruned = learning_.learn({"--prune"}, "cat {O}/two");
  ASSERT_EQ(pruned.exit_code, 0) << pruned.said;
  EXPECT_FALSE(pruned.opens(learning_.fill("{O}/one"))) << pruned.text;
  EXPECT_TRUE(pruned.opens(learning_.fill("{O}/two"))) << pruned.text;
}

TEST_P(Learn, ACommandThatFailsByItselfProvesNothing) {
  const auto learned = learning_.learn({}, "exit 3");
  EXPECT_EQ(learned.exit_code, 1);
  EXPECT_TRUE(says(learned, "not proved: the command ends with 3")) << learned.said;
  EXPECT_NE(learned.text.find("NOT PROVED"), std::string::npos) << learned.text;
}

TEST_P(Learn, OneThatAsksForMoreEveryTimeIsSaidToBeUnsettled) {
  learning_.prepare("for i in $(seq 1 60); do echo $i > {O}/n$i; done");
  // Each run reads one more than the runs before could.
  const auto learned = learning_.learn({}, "i=1; while cat {O}/n$i >/dev/null 2>&1; do i=$((i + 1)); done; true");
  EXPECT_EQ(learned.exit_code == 0, !says(learned, "still asks for more")) << learned.said;
  EXPECT_LT(learned.paths().size(), 60u);
}

TEST_P(Learn, NamesWithEscapesReachNoTerminal) {
  learning_.prepare("printf x > \"$(printf '{O}/a\\033[31mb')\"");
  const auto learned = learning_.learn({}, "cat \"$(printf '{O}/a\\033[31mb')\"");
  EXPECT_EQ(learned.said.find('\x1b'), std::string::npos);
  EXPECT_EQ(learned.text.find('\x1b'), std::string::npos);
  EXPECT_EQ(learned.exit_code, 0) << learned.said;
}

TEST_P(Learn, AsManyRunsAsAskedForMustNeedNothingMore) {
  learning_.prepare("echo a > {O}/a");
  const auto learned = learning_.learn({"--runs", "3"}, "cat {O}/a");
  EXPECT_EQ(learned.exit_code, 0) << learned.said;
  EXPECT_TRUE(says(learned, "run 5:")) << "one wide, one that adds, three quiet: " << learned.said;
}

TEST_P(Learn, APolicyInsideTheProjectClosesItself) {
  const auto ran = learning_.person().harn({"learn", "-o", "policy.toml", "--", "sh", "-c", "echo 1 > made"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const auto again = learning_.person().harn({"run", "--policy", "policy.toml", "--", "sh", "-c", "echo 1 > made"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  const auto attack = learning_.person().harn({"run", "--policy", "policy.toml", "--", "sh", "-c", "echo >> policy.toml"});
  EXPECT_NE(attack.exit_code, 0);
}

TEST_P(Learn, WrongWordsAreUsageErrors) {
  EXPECT_EQ(learning_.person().harn({"learn"}).exit_code, 2);
  EXPECT_EQ(learning_.person().harn({"learn", "--runs", "0", "--", "true"}).exit_code, 2);
  EXPECT_EQ(learning_.person().harn({"learn", "--runs", "x", "--", "true"}).exit_code, 2);
}

INSTANTIATE_TEST_SUITE_P(Learned, Learn, testing::ValuesIn(learn_stands()), [](const auto& stand) { return stand.param.name(); });

}  // namespace
}  // namespace harn::test

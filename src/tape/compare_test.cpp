// SPDX-License-Identifier: Apache-2.0
// Every way in which a run can be another one than the recorded has its name, and both sides are shown.
#include <gtest/gtest.h>

#include "support/temp_dir.h"
#include "tape/test_records.h"

namespace harn {
namespace {

using test::described;
using test::ended;

class Divergences : public testing::Test {
 protected:
  void record(const RunRecord& run) {
    auto writer = TapeWriter::open(dir_.path("t"));
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->append(run));
  }
  Replay replay(ReplayRules rules = {}) { return Replay(*Tape::open(dir_.path("t")), std::move(rules)); }

  test::TempDir dir_;
};

// The only divergence, by name, with both sides.
void expect_only(const Result<Replayed>& answer, DivergenceKind kind, const std::string& recorded, const std::string& now) {
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->divergences.size(), 1u) << divergences_text(answer->divergences);
  const auto& found = answer->divergences[0];
  EXPECT_EQ(found.kind, kind) << divergences_text(answer->divergences);
  EXPECT_NE(found.recorded.find(recorded), std::string::npos) << found.recorded;
  EXPECT_NE(found.now.find(now), std::string::npos) << found.now;
}

TEST_F(Divergences, Argv) {
  record(ended(described({"make", "test"}), "ok"));
  auto tape = replay();
  expect_only(tape.next(described({"make", "all"}), input_from("")), DivergenceKind::argv, "make test", "make all");
  EXPECT_EQ(tape.end().size(), 1u);
}

TEST_F(Divergences, Cwd) {
  record(ended(described({"make"}), "ok"));
  auto asked = described({"make"});
  asked.cwd = AbsPath::of("/elsewhere");
  expect_only(replay().next(asked, input_from("")), DivergenceKind::cwd, "/work", "/elsewhere");
  EXPECT_TRUE(replay({.ignore = {DivergenceKind::cwd}}).next(asked, input_from(""))->divergences.empty());
}

TEST_F(Divergences, EnvNamesTheVariablesAndNeverTheirValues) {
  record(ended(described({"make"}, {{"PATH", "/bin"}, {"LANG", "C"}, {"OLD", "1"}}), "ok"));
  const auto asked = described({"make"}, {{"PATH", "/bin"}, {"LANG", "elvish"}, {"NEW", "1"}});
  const auto answer = replay().next(asked, input_from(""));
  expect_only(answer, DivergenceKind::env, "LANG (", "LANG (");
  EXPECT_NE(answer->divergences[0].recorded.find("no NEW"), std::string::npos);
  EXPECT_NE(answer->divergences[0].now.find("no OLD"), std::string::npos);
  EXPECT_EQ(answer->divergences[0].now.find("PATH"), std::string::npos);
  EXPECT_EQ(divergences_text(answer->divergences).find("elvish"), std::string::npos);
  EXPECT_TRUE(replay({.ignore_env = {"LANG", "NEW", "OLD"}}).next(asked, input_from(""))->divergences.empty());
  EXPECT_TRUE(replay({.ignore = {DivergenceKind::env}}).next(asked, input_from(""))->divergences.empty());
}

TEST_F(Divergences, Stdin) {
  record(ended(described({"cat"}), "ok", 0, "hello"));
  expect_only(replay().next(described({"cat"}), input_from("help!")), DivergenceKind::stdin_, "5 bytes", "5 bytes");
  expect_only(replay().next(described({"cat"}), input_from("hell")), DivergenceKind::stdin_, "5 bytes", "4 bytes");
  expect_only(replay().next(described({"cat"}), input_from("hello and more")), DivergenceKind::stdin_, "5 bytes", "more than 5");
  EXPECT_TRUE(replay().next(described({"cat"}), input_from("hello"))->divergences.empty());
  EXPECT_TRUE(replay({.ignore = {DivergenceKind::stdin_}}).next(described({"cat"}), input_from("x"))->divergences.empty());
}

TEST_F(Divergences, StdinThatNobodyWaitedForIsComparedAsFarAsItWasRead) {
  auto run = ended(described({"head"}), "ok", 0, "hello");
  run.input.ended = false;
  record(run);
  EXPECT_TRUE(replay().next(described({"head"}), input_from("hello and more"))->divergences.empty());
  EXPECT_FALSE(replay().next(described({"head"}), input_from("other"))->divergences.empty());
}

TEST_F(Divergences, Policy) {
  record(ended(described({"make"}), "ok"));
  Policy strict;
  strict.sandbox_profile = Profile::os_hardened;
  strict.limits.max_processes = 7;
  const auto answer = replay().next(described({"make"}, {{"PATH", "/bin"}}, strict), input_from(""));
  expect_only(answer, DivergenceKind::policy, "worktree", "os_hardened");
  EXPECT_NE(answer->divergences[0].recorded.find("no limits.max_processes"), std::string::npos) << answer->divergences[0].recorded;
  EXPECT_NE(answer->divergences[0].now.find("limits.max_processes = 7"), std::string::npos) << answer->divergences[0].now;
}

TEST_F(Divergences, Order) {
  record(ended(described({"a"}), "1"));
  record(ended(described({"b"}), "2"));
  expect_only(replay().next(described({"b"}), input_from("")), DivergenceKind::order, "exec 1 is a", "b, which is exec 2");
  auto loose = replay({.ignore = {DivergenceKind::order}});
  EXPECT_EQ(loose.next(described({"b"}), input_from(""))->index, 1u);
  EXPECT_EQ(loose.next(described({"a"}), input_from(""))->index, 0u);
  EXPECT_TRUE(loose.end().empty());
}

TEST_F(Divergences, Missing) {
  record(ended(described({"a"}), "1"));
  record(ended(described({"b"}), "2"));
  auto tape = replay();
  ASSERT_TRUE(tape.next(described({"a"}), input_from(""))->divergences.empty());
  const auto left = tape.end();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0], (Divergence{.kind = DivergenceKind::missing, .exec = 2, .recorded = "b", .now = "was never asked for"}));
}

TEST_F(Divergences, Extra) {
  record(ended(described({"a"}), "1"));
  record(ended(described({"b"}), "1"));
  auto tape = replay();
  ASSERT_TRUE(tape.next(described({"a"}), input_from(""))->divergences.empty());
  expect_only(tape.next(described({"a"}), input_from("")), DivergenceKind::extra, "exec 1, which was played already", "a");
  ASSERT_TRUE(tape.next(described({"b"}), input_from(""))->divergences.empty());
  expect_only(tape.next(described({"c"}), input_from("")), DivergenceKind::extra, "nothing like it", "c");
}

TEST_F(Divergences, SeveralAtOnceAreAllNamed) {
  record(ended(described({"a"}), "1"));
  auto asked = described({"b"}, {{"PATH", "/usr/bin"}});
  asked.cwd = AbsPath::of("/tmp");
  const auto answer = replay().next(asked, input_from(""));
  ASSERT_TRUE(answer);
  std::string names;
  for (const auto& divergence : answer->divergences) (names += name_of(divergence.kind)) += ' ';
  EXPECT_EQ(names, "argv cwd env ");
  EXPECT_NE(divergences_to_json(answer->divergences).find(R"("kind": "cwd")"), std::string::npos);
}

TEST(Descriptions, HoldNoSecrets) {
  Policy policy;
  policy.env.set = {{"API_TOKEN", "tok-in-policy"}, {"PLAIN", "with sesame-open inside"}};
  policy.env.passthrough = {"MY_PASSWORD"};
  const std::vector<std::string> argv = {"curl", "-u", "me:hunter22", "--token", "abcdefgh", "sesame-open", "plain \xff"};
  const std::map<std::string, std::string> environment = {{"MY_PASSWORD", "sesame-open"}, {"OTHER", "x sesame-open y"}};
  const std::vector<std::string> secrets = {"sesame-open"};
  const auto cwd = AbsPath::of("/w");
  const auto run = describe_run({.policy = policy, .argv = argv, .cwd = cwd, .environment = environment, .secrets = secrets});
  const auto text = run_record_to_json(run);
  for (const auto* secret : {"sesame", "hunter22", "abcdefgh", "tok-in-policy"}) EXPECT_EQ(text.find(secret), std::string::npos) << secret;
  EXPECT_TRUE(run.redacted);
  EXPECT_EQ(run.argv.back(), "plain \xff");
  EXPECT_EQ(run.env.at("MY_PASSWORD"), "redacted");
  // Another value of a secret is not another run.
  auto rotated = environment;
  rotated["MY_PASSWORD"] = "new-secret";
  rotated["OTHER"] = "x new-secret y";
  const std::vector<std::string> other = {"new-secret", "sesame-open"};
  EXPECT_EQ(describe_run({.policy = policy, .argv = argv, .cwd = cwd, .environment = rotated, .secrets = other}).env, run.env);
}

TEST(Descriptions, KeepLongAndStrangeWordsAsTheyAre) {
  const std::vector<std::string> argv = {"x", std::string(100'000, 'a'), std::string("\xc3\x28")};
  const auto run = describe_run({.policy = {}, .argv = argv, .cwd = {}, .environment = {}, .secrets = {}});
  EXPECT_EQ(run.argv, argv);
  EXPECT_FALSE(run.redacted);
}

}  // namespace
}  // namespace harn

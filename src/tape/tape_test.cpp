// SPDX-License-Identifier: Apache-2.0
// A tape gives back what was put on it, whoever wrote it, and is refused when it is anything else.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "support/temp_dir.h"
#include "sys/files.h"
#include "tape/file.h"
#include "tape/test_records.h"

namespace harn {
namespace {

using test::described;
using test::ended;

class Tapes : public testing::Test {
 protected:
  AbsPath path() const { return dir_.path("x.tape"); }
  std::string bytes() const { return *sys::read_file(path(), 1u << 28); }
  void set_bytes(std::string_view text) const {
    std::filesystem::remove(path().text());
    std::ofstream(path().text(), std::ios::binary) << text;
  }
  void append(const RunRecord& record) const {
    auto writer = TapeWriter::open(path());
    ASSERT_TRUE(writer) << describe(writer.error());
    const auto kept = writer->append(record);
    ASSERT_TRUE(kept) << describe(kept.error());
  }
  std::string refusal() const {
    const auto tape = Tape::open(path());
    return tape ? "" : tape.error().message;
  }

  test::TempDir dir_;
};

std::string random_bytes(std::size_t count, unsigned seed) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += static_cast<char>((seed = seed * 1664525u + 1013904223u) >> 24);
  return out;
}

TEST_F(Tapes, ARecordThatSaysAnotherProfileThanItsPolicyIsRefused) {
  auto record = ended(described({"sh"}), "");
  record.profile = Profile::os_hardened;
  auto read = run_record_from_json(run_record_to_json(record));
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("the record names the profile os_hardened"), std::string::npos) << read.error().message;
  record.policy.sandbox_profile = Profile::os_hardened;
  read = run_record_from_json(run_record_to_json(record));
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("digest of the policy"), std::string::npos) << read.error().message;
  record.policy_digest = digest(record.policy);
  EXPECT_TRUE(run_record_from_json(run_record_to_json(record)));
}

// The first format had no salt, and its digests of policies were made before secrets were taken out.
TEST_F(Tapes, ATapeOfTheFirstFormatIsReadAndContinued) {
  append(ended(described({"echo", "1"}), "1"));
  const auto text = bytes();
  const auto slot = tape::print_slot(tape::parse_head(text)->settled, "");
  set_bytes(tape::print_format("") + slot + slot + text.substr(tape::head_bytes));
  append(ended(described({"echo", "2"}), "2"));
  auto tape = Tape::open(path());
  ASSERT_TRUE(tape) << describe(tape.error());
  EXPECT_EQ(tape->salt(), "");
  EXPECT_EQ(tape->records().size(), 2u);
  EXPECT_TRUE(bytes().starts_with(R"({"format":"harn.tape.v1"})"));

  auto json = run_record_to_json(ended(described({"echo", "1"}), "1"));
  const auto change = [&](std::string_view from, std::string_view to) { json.replace(json.find(from), from.size(), to); };
  change("harn.run_record.v2", "harn.run_record.v1");
  EXPECT_TRUE(run_record_from_json(json));
  change("policy-", "policy-0");
  EXPECT_FALSE(run_record_from_json(json)) << "nothing was redacted, and yet the digest is another";
  json.insert(json.rfind("\"stdin\""), "\"redacted\": true, ");
  const auto read = run_record_from_json(json);
  ASSERT_TRUE(read) << describe(read.error());
  EXPECT_EQ(read->policy_digest, digest(read->policy));
}

TEST_F(Tapes, EveryTapeHasASaltOfItsOwn) {
  const auto one = TapeWriter::open(path());
  const auto other = TapeWriter::open(dir_.path("y.tape"));
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->salt().size(), 24u);
  EXPECT_NE(one->salt(), other->salt());
  EXPECT_EQ(Tape::open(path())->salt(), one->salt());
  EXPECT_EQ(TapeWriter::open(path())->salt(), one->salt());
  const std::vector<std::string> argv = {"true"};
  const std::map<std::string, std::string> environment = {{"PIN", "4711"}};
  const auto digest_with = [&](std::string_view salt) {
    return describe_run({.policy = {}, .argv = argv, .cwd = {}, .environment = environment, .secrets = {}, .salt = salt}).env["PIN"];
  };
  EXPECT_EQ(digest_with(one->salt()), digest_with(one->salt()));
  EXPECT_NE(digest_with(one->salt()), digest_with(other->salt()));
}

TEST_F(Tapes, NothingIsWrittenToAFileWithASecondName) {
  const auto empty = dir_.file("empty");
  std::filesystem::create_hard_link(empty.text(), path().text());
  EXPECT_FALSE(TapeWriter::open(path()));
  EXPECT_EQ(std::filesystem::file_size(empty.text()), 0u);
}

TEST_F(Tapes, NoPlantedLinkLeadsAWriterAstray) {
  dir_.directory("victim");
  dir_.link("tapes", "victim");
  const auto writer = TapeWriter::open(dir_.path("tapes/x.tape"));
  ASSERT_FALSE(writer);
  EXPECT_NE(writer.error().message.find("a link leads there"), std::string::npos) << writer.error().message;
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path("victim").text()));
}

// What closes the path of a tape to a command must close the file.
TEST_F(Tapes, ATapeKnowsWhereItReallyIs) {
  append(ended(described({"true"}), ""));
  dir_.link("link.tape", path().text());
  const auto tape = Tape::open(dir_.path("link.tape"));
  ASSERT_TRUE(tape);
  EXPECT_EQ(tape->path(), path());
  EXPECT_EQ(tape->names(), 1u);
  std::filesystem::create_hard_link(path().text(), dir_.path("h.tape").text());
  EXPECT_EQ(Tape::open(path())->names(), 2u);
}

TEST_F(Tapes, AThousandExecsComeBackByteForByte) {
  constexpr int count = 1000;
  std::vector<RunRecord> written;
  auto writer = TapeWriter::open(path());
  ASSERT_TRUE(writer);
  for (int i = 0; i < count; ++i) {
    auto record = ended(described({"cmd", std::to_string(i)}),
                        random_bytes(static_cast<std::size_t>(i) * 7 % 900, static_cast<unsigned>(i)), i % 5 == 0 ? -9 : i % 256);
    record.err = test::output("line " + std::to_string(i) + "\n\x1b[31mred\xff\x00");
    ASSERT_TRUE(writer->append(record));
    written.push_back(std::move(record));
  }
  auto tape = Tape::open(path());
  ASSERT_TRUE(tape) << describe(tape.error());
  ASSERT_EQ(tape->records().size(), written.size());
  Replay replay(std::move(*tape));
  for (std::size_t i = 0; i < written.size(); ++i) {
    const auto answer = replay.next(described({"cmd", std::to_string(i)}), input_from(""));
    ASSERT_TRUE(answer);
    ASSERT_TRUE(answer->divergences.empty()) << divergences_text(answer->divergences);
    const auto record = replay.tape().whole(answer->index);
    ASSERT_TRUE(record);
    EXPECT_EQ(*record, written[i]);
    const auto outcome = outcome_of(*record);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(*outcome->captured_stdout, written[i].out.bytes);
    EXPECT_EQ(outcome->exit_code, written[i].end->exit_code);
  }
  EXPECT_TRUE(replay.end().empty());
}

TEST_F(Tapes, ALargeOutputIsKeptInPieces) {
  const auto text = random_bytes(tape::piece_bytes * 2 + 77, 1);
  append(ended(described({"big"}), text));
  const auto tape = Tape::open(path());
  ASSERT_TRUE(tape);
  EXPECT_TRUE(tape->records()[0].out.bytes.empty());
  EXPECT_EQ(tape->whole(0)->out.bytes, text);
}

TEST_F(Tapes, OutputPastTheLimitIsNotPretended) {
  auto record = ended(described({"big"}), "begin");
  record.out.size = 100;
  append(record);
  const auto tape = Tape::open(path());
  ASSERT_TRUE(tape);
  const auto outcome = outcome_of(*tape->whole(0));
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("only the first 5 of 100 bytes"), std::string::npos) << outcome.error().message;
}

TEST_F(Tapes, BelongsToItsOwnerAlone) {
  append(ended(described({"a"}), ""));
  struct stat seen = {};
  ASSERT_EQ(::stat(path().text().c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 0777, 0600u);
  ::chmod(path().text().c_str(), 0644);
  append(ended(described({"b"}), ""));
  ASSERT_EQ(::stat(path().text().c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 0777, 0600u);
}

TEST_F(Tapes, AreNotWrittenThroughLinksNorOverOtherFiles) {
  dir_.file("real", "precious\n");
  std::filesystem::create_symlink(dir_.path("real").text(), dir_.path("link").text());
  EXPECT_FALSE(TapeWriter::open(dir_.path("link")));
  EXPECT_FALSE(TapeWriter::open(dir_.path("real")));
  EXPECT_EQ(*sys::read_file(dir_.path("real"), 100), "precious\n");
}

TEST_F(Tapes, HaveOneName) {
  append(ended(described({"a"}), ""));
  std::filesystem::create_hard_link(path().text(), dir_.path("other").text());
  const auto writer = TapeWriter::open(path());
  ASSERT_FALSE(writer);
  EXPECT_NE(writer.error().message.find("has 2 names"), std::string::npos) << writer.error().message;
}

TEST_F(Tapes, SeveralWritersTakeTurns) {
  constexpr int writers = 8;
  constexpr int each = 25;
  std::vector<std::thread> threads;
  for (int w = 0; w < writers; ++w)
    threads.emplace_back([&, w] {
      auto writer = TapeWriter::open(path());  // an open file of its own, as in another process
      for (int i = 0; writer && i < each; ++i)
        EXPECT_TRUE(writer->append(ended(described({std::to_string(w), std::to_string(i)}), random_bytes(3000, static_cast<unsigned>(w)))));
    });
  for (auto& thread : threads) thread.join();
  const auto tape = Tape::open(path());
  ASSERT_TRUE(tape) << describe(tape.error());
  EXPECT_EQ(tape->records().size(), std::size_t{writers * each});
  EXPECT_FALSE(tape->torn());
  std::map<std::string, int> next;
  for (const auto& record : tape->records()) EXPECT_EQ(record.argv[1], std::to_string(next[record.argv[0]]++));
}

TEST_F(Tapes, EveryChangedByteIsFound) {
  append(ended(described({"one"}), "first output"));
  append(ended(described({"two"}), "second"));
  const auto good = bytes();
  ASSERT_EQ(refusal(), "");
  for (std::size_t at = 0; at < good.size(); ++at) {
    auto changed = good;
    changed[at] = changed[at] == '7' ? '8' : '7';
    set_bytes(changed);
    ASSERT_NE(refusal(), "") << "byte " << at;
  }
}

TEST_F(Tapes, EveryLossAndEveryAdditionIsFound) {
  append(ended(described({"one"}), "first output"));
  append(ended(described({"two"}), "second"));
  const auto good = bytes();
  for (std::size_t size = 1; size < good.size(); size += size < tape::head_bytes ? 1 : 13) {
    set_bytes(good.substr(0, size));
    ASSERT_NE(refusal(), "") << size << " bytes left";
    ASSERT_FALSE(TapeWriter::open(path())) << size << " bytes left";
  }
  set_bytes(good + "\n");
  EXPECT_NE(refusal().find("1 bytes were added"), std::string::npos) << refusal();
  // Whole lines, by their boundaries.
  for (auto end = good.find('\n', tape::head_bytes); end + 1 < good.size(); end = good.find('\n', end + 1)) {
    set_bytes(good.substr(0, end + 1));
    EXPECT_NE(refusal().find("are missing"), std::string::npos) << refusal();
  }
}

TEST_F(Tapes, LinesCannotChangePlaces) {
  append(ended(described({"one"}), ""));
  append(ended(described({"two"}), ""));
  const auto good = bytes();
  const auto middle = good.find('\n', tape::head_bytes) + 1;
  set_bytes(good.substr(0, tape::head_bytes) + good.substr(middle) + good.substr(tape::head_bytes, middle - tape::head_bytes));
  EXPECT_NE(refusal().find("stands where"), std::string::npos) << refusal();
}

TEST_F(Tapes, AKilledWriterLosesItsOwnRunAndNothingElse) {
  append(ended(described({"one"}), "first output"));
  const auto before = bytes();
  append(ended(described({"two"}), "second output"));
  const auto after = bytes();
  for (std::size_t size = before.size(); size <= after.size(); size += 29) {
    // As it is when the announcement was made and `size` bytes had reached the file.
    set_bytes(before.substr(0, tape::announced_at) + after.substr(tape::announced_at, tape::slot_bytes) +
              after.substr(tape::head_bytes, size - tape::head_bytes));
    {
      const auto tape = Tape::open(path());
      ASSERT_TRUE(tape) << describe(tape.error());
      EXPECT_TRUE(tape->torn());
      EXPECT_EQ(tape->torn_bytes(), size - before.size());
      EXPECT_EQ(tape->records().size(), 1u);
    }
    append(ended(described({"three"}), ""));
    const auto tape = Tape::open(path());
    ASSERT_TRUE(tape) << describe(tape.error());
    EXPECT_FALSE(tape->torn());
    EXPECT_EQ(tape->repaired_times(), 1u);
    ASSERT_EQ(tape->records().size(), 2u);
    EXPECT_EQ(tape->records()[1].argv[0], "three");
  }
  // Only the last word was missing.
  set_bytes(before.substr(0, tape::announced_at) + after.substr(tape::announced_at));
  const auto tape = Tape::open(path());
  ASSERT_TRUE(tape);
  EXPECT_FALSE(tape->torn());
  EXPECT_EQ(tape->records().size(), 2u);
}

TEST_F(Tapes, OfAnotherReleaseSaySo) {
  append(ended(described({"one"}), ""));
  auto text = bytes();
  text.replace(text.find("tape.v2"), 7, "tape.v3");
  set_bytes(text);
  EXPECT_NE(refusal().find("this release reads harn.tape.v2"), std::string::npos) << refusal();
}

TEST(RunRecords, RoundTripWithTheirProfile) {
  Policy policy;
  policy.sandbox_profile = Profile::os_hardened;
  policy.limits.wall_time = std::chrono::milliseconds(1500);
  auto record = ended(described({"a", "\xff\xfe"}, {{"PATH", "/bin"}, {"LANG", "C"}}, policy), std::string("\0\x80", 2), -15);
  record.end->timed_out = record.end->oom_killed = true;
  record.plan_digest = "plan-1";
  record.backend = "linux";
  const auto read = run_record_from_json(run_record_to_json(record));
  ASSERT_TRUE(read) << describe(read.error());
  EXPECT_EQ(*read, record);
  EXPECT_EQ(read->profile, Profile::os_hardened);
  EXPECT_EQ(read->policy.profile(), Profile::os_hardened);
  record.end.reset();
  record.error = TapedError{.code = "invalid_command", .stage = "spawn", .os_error = 2, .message = "not found", .hint = "look"};
  EXPECT_EQ(*run_record_from_json(run_record_to_json(record)), record);
  EXPECT_FALSE(run_record_from_json(R"({"format":"harn.run_record.v2"})"));
}

}  // namespace
}  // namespace harn

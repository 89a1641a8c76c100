// SPDX-License-Identifier: Apache-2.0
// What a writer finds and what it makes of it.
#include <sys/stat.h>

#include <thread>

#include "audit/anchor.h"
#include "audit/line.h"
#include "audit/test_log.h"
#include "base/json.h"
#include "base/text.h"
#include "support/cases.h"

namespace harn::audit {
namespace {

using test::problem_of;
using test::put;
using test::text_of;

class Writing : public testing::Test {
 protected:
  Anchor anchor() const { return parse_anchor(text_of(anchor_file(directory_))); }

  // The anchor as a writer leaves it that dies after its announcement.
  void announce(const std::string& lines_to_come, const Head& head) const {
    const auto text = text_of(anchor_file(directory_));
    auto slot = *anchor().settled;
    ++slot.generation;
    slot.announced = End{.head = head, .segment = slot.end.segment, .size = slot.end.size + lines_to_come.size()};
    put(anchor_file(directory_), text.substr(0, slot_bytes) + print_slot(slot) + text.substr(2 * slot_bytes));
  }

  std::string next_line(Head& head) const { return make_line(head, test::started(99), "run-1", "2026-01-01T00:00:00.000000Z") + "\n"; }

  std::string append_error() const {
    const AuditEvent events[] = {test::started(0)};
    const auto kept = test::log_in(directory_)->append(events);
    return kept ? "" : kept.error().message;
  }

  test::TempDir temp_;
  AbsPath directory_ = temp_.path("a/b/audit");
  AbsPath file_ = segment_file(directory_, 1);
};

TEST_F(Writing, BelongsToItsOwnerOnly) {
  test::write_events(*test::log_in(directory_), 1);
  struct stat status = {};
  for (const auto& path : {file_, anchor_file(directory_)}) {
    ASSERT_EQ(::stat(path.text().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
  }
  ASSERT_EQ(::stat(directory_.text().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(Writing, SeveralEventsAreOneStepAndOtherLogsAreSeen) {
  const auto one = test::log_in(directory_);
  const auto two = test::log_in(directory_, {}, AuditMode::power);
  for (int i = 0; i < 10; ++i) {
    const AuditEvent events[] = {test::started(i), {.type = AuditEventType::plan_made, .data = R"({ "b": [1, 2], "a": "é" })"}};
    ASSERT_TRUE((i % 2 == 0 ? one : two)->append(events));
  }
  const auto report = *verify_audit_log(directory_);
  EXPECT_EQ(report.problem, "");
  EXPECT_EQ(report.events, 20u);
  EXPECT_EQ(anchor().synced, 20u);
  std::vector<AuditRecord> records;
  ASSERT_TRUE(read_audit_log(directory_, [&](const AuditRecord& record) { return records.push_back(record), true; }));
  EXPECT_EQ(records[1].data, R"({"a":"\u00e9","b":[1,2]})");
}

TEST_F(Writing, ThreadsMayShareALog) {
  const auto log = test::log_in(directory_);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { test::write_events(*log, 50); });
  for (auto& thread : threads) thread.join();
  const auto report = *verify_audit_log(directory_);
  EXPECT_EQ(report.problem, "");
  EXPECT_EQ(report.events, 200u);
}

TEST_F(Writing, WhatIsNoEventIsRefusedAndNothingIsWritten) {
  const auto log = test::log_in(directory_);
  test::write_events(*log, 1);
  const auto before = text_of(file_);
  for (const std::string data : {"", "[]", "{", "{\"a\":1,\"a\":2}", "7"}) {
    const AuditEvent events[] = {test::started(1), {.type = AuditEventType::denial, .data = data}};
    EXPECT_FALSE(log->append(events)) << data;
  }
  const AuditEvent event[] = {test::started(1)};
  EXPECT_FALSE(AuditLog::open({.directory = directory_, .session_id = "a\"b"})->append(event));
  EXPECT_EQ(text_of(file_), before);
  EXPECT_EQ(problem_of(directory_), "");
}

TEST_F(Writing, EveryPlaceAWriterCanDieAtIsPutInOrderAndRecorded) {
  test::write_events(*test::log_in(directory_), 3);
  const auto text = text_of(file_);
  const auto settled = text_of(anchor_file(directory_));
  auto head = anchor().settled->end.head;
  auto coming = next_line(head);
  coming += next_line(head);
  for (std::size_t written = 0; written <= coming.size(); written += test::fewer_cases() ? 17 : 1) {
    put(anchor_file(directory_), settled);
    announce(coming, head);
    put(file_, text + coming.substr(0, written));
    const auto before = *verify_audit_log(directory_);
    ASSERT_EQ(before.problem, "") << written;
    ASSERT_TRUE(before.interrupted);
    ASSERT_EQ(append_error(), "") << written;
    const auto after = *verify_audit_log(directory_);
    ASSERT_EQ(after.problem, "") << written;
    ASSERT_FALSE(after.interrupted);
    ASSERT_EQ(after.repairs.size(), 1u);
    const auto kept = 3u + static_cast<unsigned>(std::count(coming.begin(), coming.begin() + static_cast<std::ptrdiff_t>(written), '\n'));
    ASSERT_EQ(after.events, kept + 2) << written;
    ASSERT_NE(after.repairs[0].data.find("\"reason\":\"interrupted\""), std::string::npos);
  }
}

TEST_F(Writing, AnAnchorThatWasNeverFinishedIsMadeAgain) {
  for (const std::size_t size : {0u, 1u, 1024u, 3071u}) {
    std::filesystem::remove_all(directory_.text());
    std::filesystem::create_directories(directory_.text());
    put(anchor_file(directory_), std::string(size, '\0'));
    EXPECT_EQ(append_error(), "") << size;
    EXPECT_EQ(problem_of(directory_), "");
  }
}

// The second one announces what it found; if it dies too, all of that is still explained.
TEST_F(Writing, TwoWritersMayDieOneAfterTheOther) {
  test::write_events(*test::log_in(directory_), 3);
  auto head = anchor().settled->end.head;
  const auto first = next_line(head);
  auto second_head = head;
  const auto second = next_line(second_head);
  announce(first, head);
  put(file_, text_of(file_) + first);
  const auto text = text_of(anchor_file(directory_));
  auto slot = *anchor().announced;
  ++slot.generation;
  slot.end = *slot.announced;
  slot.announced = End{.head = second_head, .segment = 1, .size = slot.end.size + second.size()};
  put(anchor_file(directory_), text.substr(0, slot_bytes) + print_slot(slot) + text.substr(2 * slot_bytes));
  put(file_, text_of(file_) + second.substr(0, 20));
  EXPECT_EQ(problem_of(directory_), "");
  EXPECT_EQ(append_error(), "");
  EXPECT_EQ(problem_of(directory_), "");
  EXPECT_EQ(verify_audit_log(directory_)->events, 6u);
}

TEST_F(Writing, NothingIsAddedToALogThatWasChanged) {
  test::write_events(*test::log_in(directory_), 5);
  const auto text = text_of(file_);
  const auto settled = text_of(anchor_file(directory_));
  put(file_, text.substr(0, text.size() / 2));
  EXPECT_NE(append_error().find("it is shorter than it was"), std::string::npos);
  put(file_, text + "x");
  EXPECT_NE(append_error().find("something was added to it"), std::string::npos);
  std::filesystem::remove(file_.text());
  EXPECT_NE(append_error().find("is gone"), std::string::npos);
  put(file_, text);
  put(anchor_file(directory_), std::string(anchor_bytes, 'x'));
  EXPECT_NE(append_error().find("the anchor is gone or cannot be read"), std::string::npos);
  std::filesystem::remove(anchor_file(directory_).text());
  EXPECT_NE(append_error().find("the anchor is gone"), std::string::npos);
  std::filesystem::remove(anchor_file(directory_).text());
  put(anchor_file(directory_), settled);
  EXPECT_EQ(append_error(), "");

  // An announcement explains only what was announced.
  auto head = anchor().settled->end.head;
  const auto line = next_line(head);
  announce(line, head);
  auto other = anchor().settled->end.head;
  const auto forged = make_line(other, test::started(1), "run-2", "2026-01-01T00:00:00.000000Z") + "\n";
  const auto now = text_of(file_);
  for (const auto& added : {forged, line + forged, std::string("nonsense\n")}) {
    put(file_, now + added);
    EXPECT_NE(append_error(), "") << added;
  }
}

// As after a power failure: the clocks say that the machine was started again.
TEST_F(Writing, WhatAPowerFailureTookIsRecorded) {
  test::write_events(*test::log_in(directory_), 5);
  const auto text = text_of(file_);
  auto slot = *anchor().settled;
  slot.boot_ms += std::int64_t{1} << 40;
  const auto rest = text_of(anchor_file(directory_)).substr(slot_bytes);
  const auto set_anchor = [&](std::uint64_t synced) {
    put(anchor_file(directory_), print_slot(slot) + rest.substr(0, slot_bytes) + print_synced(synced));
  };
  set_anchor(0);
  const auto third = text.find('\n', text.find('\n') + 1) + 1;
  put(file_, text.substr(0, third + 10) + std::string(50, '\0'));
  EXPECT_NE(problem_of(directory_), "");
  EXPECT_EQ(append_error(), "");
  const auto report = *verify_audit_log(directory_);
  EXPECT_EQ(report.problem, "");
  ASSERT_EQ(report.repairs.size(), 1u);
  EXPECT_NE(report.repairs[0].data.find("\"lost\":3,"), std::string::npos) << report.repairs[0].data;
  EXPECT_NE(report.repairs[0].data.find("\"reason\":\"power_loss\""), std::string::npos);

  // What is known to have been on the disk cannot have been lost that way.
  set_anchor(4);
  put(file_, text.substr(0, third));
  EXPECT_NE(append_error().find("had reached the disk"), std::string::npos);
}

TEST_F(Writing, ADamagedAnchorIsPutInOrderFromItsAnnouncement) {
  test::write_events(*test::log_in(directory_), 3);
  auto head = anchor().settled->end.head;
  const auto line = next_line(head);
  announce(line, head);
  auto text = text_of(anchor_file(directory_));
  text[20] = '?';
  put(anchor_file(directory_), text);
  EXPECT_NE(problem_of(directory_).find("the anchor is damaged"), std::string::npos);
  EXPECT_EQ(append_error(), "");
  const auto report = *verify_audit_log(directory_);
  EXPECT_EQ(report.problem, "");
  EXPECT_NE(report.repairs[0].data.find("anchor_damaged"), std::string::npos);
}

TEST_F(Writing, ASealNeedsItsKeyAndANewOneIsRecorded) {
  const auto key = test::log_in(directory_)->start_sealing(false);
  ASSERT_TRUE(key);
  test::write_events(*test::log_in(directory_), 2);
  EXPECT_FALSE(test::log_in(directory_)->start_sealing(false));
  std::filesystem::remove(key_file(directory_).text());
  EXPECT_NE(append_error(), "");
  EXPECT_EQ(problem_of(directory_), "");
  const auto other = test::log_in(directory_)->start_sealing(true);
  ASSERT_TRUE(other);
  EXPECT_NE(*key, *other);
  EXPECT_EQ(verify_audit_log(directory_)->sealed_by, *other);
  EXPECT_EQ(problem_of(directory_, {.public_key = *key}), "the seal of the anchor is wrong");
}

TEST_F(Writing, AWriterMayDieBeforeItsAnnouncement) {
  test::write_events(*test::log_in(directory_), 3);
  put(segment_file(directory_, 4), "");
  EXPECT_EQ(problem_of(directory_), "");
  EXPECT_EQ(append_error(), "");
  EXPECT_EQ(problem_of(directory_), "");
  put(segment_file(directory_, 4), "x");
  EXPECT_NE(problem_of(directory_), "");
}

TEST_F(Writing, WordsOfAnyKindFitIntoAnEvent) {
  const std::vector<std::string> words(64, std::string(4000, '\x01'));
  std::string list;
  for (const auto& word : redacted_words(words, {})) list += (list.empty() ? "" : ",") + base::print_json(base::Value(word));
  const AuditEvent event[] = {{.type = AuditEventType::exec_started, .data = "{\"argv\":[" + list + "]}"}};
  const auto kept = test::log_in(directory_)->append(event);
  EXPECT_TRUE(kept) << kept.error().message;
}

}  // namespace
}  // namespace harn::audit

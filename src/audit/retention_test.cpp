// SPDX-License-Identifier: Apache-2.0
#include "audit/retention.h"

#include <utime.h>

#include "audit/test_log.h"

namespace harn::audit {
namespace {

using test::problem_of;

constexpr std::int64_t day_ms = std::int64_t{24} * 3600 * 1000;

TEST(AuditRetention, FilesGrowToASizeAndAnAge) {
  const AuditSettings settings{.rotate_bytes = 1000};
  Slot slot{.end = {.size = 999}, .segment_began_ms = 0};
  EXPECT_FALSE(begins_new_file(slot, settings, day_ms));
  EXPECT_TRUE(begins_new_file(slot, settings, 31 * day_ms));
  slot.end.size = 1000;
  EXPECT_TRUE(begins_new_file(slot, settings, day_ms));
  slot.end.size = 0;
  EXPECT_FALSE(begins_new_file(slot, settings, 31 * day_ms));
}

TEST(AuditRetention, TheOldestGoFirst) {
  const std::vector<Segment> segments = {{1, 100, 0}, {5, 100, 10 * day_ms}, {9, 100, 20 * day_ms}};
  const auto gone = [&](AuditSettings settings) { return surplus(segments, settings, 21 * day_ms).size(); };
  EXPECT_EQ(gone({.keep_bytes = 300}), 0u);
  EXPECT_EQ(gone({.keep_bytes = 299}), 1u);
  EXPECT_EQ(gone({.keep_bytes = 0}), 3u);
  EXPECT_EQ(gone({.keep_age = std::chrono::milliseconds(12 * day_ms)}), 1u);
  EXPECT_EQ(gone({.keep_age = std::chrono::milliseconds(2 * day_ms)}), 2u);
}

TEST(AuditRetention, AChainGoesOnOverManyFilesAndBehindWhatWasRemoved) {
  const test::TempDir temp;
  const auto directory = temp.path("audit");
  const AuditSettings settings{.rotate_bytes = 2000, .keep_bytes = 9000};
  {
    const auto log = test::log_in(directory, settings);
    test::write_events(*log, 40);
  }
  test::write_events(*test::log_in(directory, settings), 40);
  const auto report = verify_audit_log(directory);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->problem, "") << report->where;
  EXPECT_GT(report->removed_by_retention, 20u);
  EXPECT_EQ(report->first_seq, report->removed_by_retention + 1);
  EXPECT_GT(report->last_seq, 80u);  // log_pruned events count too
  EXPECT_EQ(report->events, report->last_seq - report->removed_by_retention);
  EXPECT_GT(list_segments(directory)->size(), 3u);
  EXPECT_LT(list_segments(directory)->size(), 7u);
}

TEST(AuditRetention, OldFilesGoByAge) {
  const test::TempDir temp;
  const auto directory = temp.path("audit");
  const AuditSettings settings{.rotate_bytes = 2000, .keep_age = std::chrono::hours(24)};
  test::write_events(*test::log_in(directory, settings), 20);
  const auto before = *list_segments(directory);
  ASSERT_GT(before.size(), 2u);
  const utimbuf long_ago = {.actime = 1000, .modtime = 1000};
  ASSERT_EQ(::utime(segment_file(directory, before[0].first).text().c_str(), &long_ago), 0);
  test::write_events(*test::log_in(directory, settings), 12);
  const auto report = verify_audit_log(directory);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->problem, "");
  EXPECT_EQ(report->first_seq, before[1].first);
}

TEST(AuditRetention, OnlyWhatTheLogSaysWasRemovedMayBeMissing) {
  const test::TempDir temp;
  const auto directory = temp.path("audit");
  const AuditSettings settings{.rotate_bytes = 2000, .keep_bytes = 9000};
  test::write_events(*test::log_in(directory, settings), 80);
  const auto segments = *list_segments(directory);
  std::filesystem::remove(segment_file(directory, segments[0].first).text());
  EXPECT_NE(problem_of(directory).find("is missing"), std::string::npos);

  // Not even when the anchor is made to agree.
  auto text = test::text_of(anchor_file(directory));
  auto slot = *parse_slot(std::string_view(text).substr(0, slot_bytes));
  std::string line;
  ASSERT_TRUE(for_each_line(segment_file(directory, segments[1].first), 0, [&](std::string_view first, std::uint64_t, bool) {
    line = first;
    return false;
  }));
  slot.first = segments[1].first;
  slot.before_first = parse_line(line)->prev_hash;
  test::put(anchor_file(directory), print_slot(slot) + text.substr(slot_bytes));
  EXPECT_NE(problem_of(directory).find("retention removed those before"), std::string::npos) << problem_of(directory);
}

}  // namespace
}  // namespace harn::audit

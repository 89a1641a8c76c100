// SPDX-License-Identifier: Apache-2.0
#include "audit/line.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/sha256.h"

namespace harn::audit {
namespace {

std::string example(Head& head) {
  return make_line(head, {.type = AuditEventType::denial, .data = R"({"a":1,"hash":"x"})", .canonical = true}, "run-1",
                   "2026-11-15T12:44:48.123456Z");
}

// By the words of the contract, with nothing of line.cpp.
TEST(AuditLine, TheHashIsThatOfTheCanonicalJsonWithoutIt) {
  Head head;
  const auto line = example(head);
  auto value = *base::parse_json(line);
  std::string hash;
  auto& members = value.object();
  for (auto& member : members)
    if (member.name == "hash") hash = member.value.string();
  std::erase_if(members, [](const base::Member& member) { return member.name == "hash"; });
  EXPECT_EQ(base::sha256_hex(base::canonical_json(value)), hash);
  EXPECT_EQ(head.hash, hash);
  EXPECT_EQ(value.find("prev_hash")->string(), std::string(64, '0'));
  EXPECT_EQ(value.find("seq")->integer(), 1);
  EXPECT_EQ(line, base::canonical_json(*base::parse_json(line)));
}

TEST(AuditLine, ReadsBackAndFollows) {
  Head head;
  Head reader;
  for (int i = 0; i < 3; ++i) {
    const auto record = parse_line(example(head));
    ASSERT_TRUE(record) << record.error().message;
    EXPECT_EQ(record->event_type, "denial");
    EXPECT_EQ(record->data, R"({"a":1,"hash":"x"})");
    EXPECT_EQ(audit_record_to_json(*record), audit_record_to_json(*parse_line(audit_record_to_json(*record))));
    EXPECT_TRUE(follow(reader, *record));
    EXPECT_FALSE(follow(reader, *record));
  }
  EXPECT_EQ(reader, head);
}

TEST(AuditLine, WhatIsNoEventIsRefused) {
  Head head;
  const auto line = example(head);
  for (const auto& text : {std::string(), std::string("{}"), std::string("[]"), line + " ", " " + line, line.substr(1),
                           line.substr(0, line.size() - 1), line + line, std::string(longest_line + 1, ' ')}) {
    const auto record = parse_line(text);
    EXPECT_FALSE(record) << text;
    EXPECT_TRUE(record || !record.error().message.empty());
  }
}

TEST(AuditLine, TimesAreUtcWithMicroseconds) {
  EXPECT_EQ(timestamp_text(0), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(timestamp_text(1'709'210'096'000'001), "2024-02-29T12:34:56.000001Z");
}

TEST(AuditLine, BytesThatAreNoTextAreMadeVisible) {
  EXPECT_EQ(visible("caf\xc3\xa9"), "caf\xc3\xa9");
  EXPECT_EQ(visible("a\xff\xc3"), "a\\xff\\xc3");
}

TEST(AuditLine, CsvKeepsQuotesAndCommasInsideOneField) {
  const AuditRecord record{.seq = 1,
                           .event_id = "e",
                           .timestamp = "t",
                           .event_type = "denial",
                           .session_id = "s",
                           .data = R"({"a":"x,y"})",
                           .prev_hash = "p",
                           .hash = "h"};
  EXPECT_EQ(audit_record_to_csv(record), "1,e,t,denial,s,\"{\"\"a\"\":\"\"x,y\"\"}\",p,h\n");
}

}  // namespace
}  // namespace harn::audit

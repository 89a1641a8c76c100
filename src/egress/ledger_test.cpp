// SPDX-License-Identifier: Apache-2.0
#include "egress/ledger.h"

#include <gtest/gtest.h>

namespace harn::egress {
namespace {

NetworkReport read_back(const Ledger& ledger) {
  NetworkReport report;
  auto lines = ledger.lines();
  EXPECT_EQ(lines.back(), "end");
  lines.pop_back();
  for (const auto& line : lines) EXPECT_TRUE(read_report_line(line, report)) << line;
  return report;
}

TEST(Ledger, TellsWhatItSaw) {
  Ledger ledger;
  auto& contact = ledger.contact("a.org", 443);
  contact.connections = 2;
  contact.sent_bytes = 10;
  contact.received_bytes = 20;
  ledger.contact("a.org", 80).failed = 1;
  ledger.deny("resolve", "evil.org", "no rule admits it", "--allow-host evil.org");
  ledger.deny("resolve", "evil.org", "no rule admits it", "--allow-host evil.org");
  const NetworkReport expected{
      .contacts = {{.host = "a.org", .port = 80, .failed = 1},
                   {.host = "a.org", .port = 443, .connections = 2, .sent_bytes = 10, .received_bytes = 20}},
      .denials = {
          {.access = "host", .call = "resolve", .target = "evil.org", .rule = "no rule admits it", .remedy = "--allow-host evil.org"}}};
  EXPECT_EQ(read_back(ledger), expected);
  EXPECT_EQ(ledger.bytes_of("a.org"), 30u);
  EXPECT_EQ(ledger.bytes_of("a"), 0u);
}

TEST(Ledger, StaysSmallWhateverHappens) {
  Ledger ledger;
  for (int i = 0; i < 5000; ++i) {
    ledger.contact("h" + std::to_string(i), 1).connections = 1;
    ledger.deny("connect", std::to_string(i), "r", "");
  }
  const auto report = read_back(ledger);
  EXPECT_EQ(report.contacts.size(), 1024u);
  EXPECT_EQ(report.denials.size(), 256u);
  EXPECT_EQ(report.unnamed, 5000u - 1024 + 5000 - 256);
}

TEST(Ledger, ABrokenLineIsAnError) {
  NetworkReport report;
  for (const auto* line : {"", "contact", "contact\ta\t1\t1\t1\t1", "contact\ta\t70000\t1\t1\t1\t1", "contact\ta\tx\t1\t1\t1\t1",
                           "denial\ta", "unnamed\tx", "else"})
    EXPECT_FALSE(read_report_line(line, report)) << line;
}

}  // namespace
}  // namespace harn::egress

// SPDX-License-Identifier: Apache-2.0
#include "run/windows/journal.h"

#include <gtest/gtest.h>

namespace harn::run::windows {
namespace {

Journal example() {
  return {
      .container = "harn.sandbox.run-1",
      .sid = "S-1-15-2-1-2-3-4-5-6-7",
      .owner = 4711,
      .started = 133'000'000'000'000'000,
      .changes = {
          {.path = AbsPath::of("C:/w/ü \"x\""), .identity = "7:42", .stops = true, .stopped_before = false, .copies = {"(A;OICI;FA;;;BA)"}},
          {.path = AbsPath::of("C:/w"), .stops = false}}};
}

TEST(Journal, RoundTrips) {
  const auto back = journal_from_json(journal_to_json(example()));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, example());
}

TEST(Journal, HalfOfOneIsNone) {
  const auto whole = journal_to_json(example());
  for (std::size_t length = 0; length + 2 < whole.size(); ++length) EXPECT_FALSE(journal_from_json(whole.substr(0, length))) << length;
}

TEST(Journal, RefusesOtherVersionsUnknownMembersAndSidsOfPeople) {
  const auto with = [](std::string_view from, std::string_view to) {
    auto text = journal_to_json(example());
    const auto at = text.find(from);
    return at == std::string::npos ? "not found" : text.replace(at, from.size(), to);
  };
  EXPECT_FALSE(journal_from_json(with("journal.v2", "journal.v1")));
  EXPECT_FALSE(journal_from_json(with("\"owner\"", "\"extra\": 1, \"owner\"")));
  EXPECT_FALSE(journal_from_json(with("S-1-15-2-1-2-3-4-5-6-7", "S-1-5-18")));
  EXPECT_FALSE(journal_from_json(with("S-1-15-2-1-2-3-4-5-6-7", "S-1-15-2-1")));
  EXPECT_FALSE(journal_from_json(with("\"C:/w\"", "\"w\"")));
  EXPECT_FALSE(journal_from_json(with("\"stops\": true", "\"stops\": 1")));
  EXPECT_FALSE(journal_from_json(with("\"stopped_before\": false,", "")));
}

}  // namespace
}  // namespace harn::run::windows

// SPDX-License-Identifier: Apache-2.0
#include "audit/anchor.h"

#include <gtest/gtest.h>

namespace harn::audit {
namespace {

Slot example() {
  return {.generation = 7,
          .end = {.head = {.count = 12, .hash = std::string(64, 'a')}, .segment = 5, .size = 4711},
          .first = 3,
          .before_first = std::string(64, 'b'),
          .segment_began_ms = 11,
          .real_ms = 1'000'000,
          .boot_ms = 5'000,
          .announced = End{.head = {.count = 13, .hash = std::string(64, 'c')}, .segment = 5, .size = 5000},
          .key = std::string(64, 'd'),
          .seal = std::string(128, 'e')};
}

TEST(AuditAnchor, ASlotReadsBackAsItWasWritten) {
  const auto slot = example();
  EXPECT_EQ(print_slot(slot).size(), slot_bytes);
  EXPECT_EQ(parse_slot(print_slot(slot)), slot);
  EXPECT_EQ(parse_slot(print_slot({})), Slot{});
}

TEST(AuditAnchor, EveryChangedByteOfASlotIsNoticed) {
  const auto text = print_slot(example());
  const auto length = text.find('\n') + 1;
  for (std::size_t i = 0; i < length; ++i) {
    auto changed = text;
    changed[i] = static_cast<char>(changed[i] ^ (1 << (i % 8)));
    EXPECT_FALSE(parse_slot(changed)) << i;
  }
  for (std::size_t i = 0; i + 1 < length; ++i) EXPECT_FALSE(parse_slot(std::string_view(text).substr(0, i))) << i;
}

TEST(AuditAnchor, OnlyAnAnnouncementNewerThanWhatIsSettledCounts) {
  auto settled = example();
  settled.announced.reset();
  auto announced = example();
  const auto whole = [&] { return print_slot(settled) + print_slot(announced) + print_synced(9); };
  EXPECT_EQ(parse_anchor(whole()), (Anchor{.settled = settled, .synced = 9}));
  announced.generation = 8;
  EXPECT_EQ(parse_anchor(whole()), (Anchor{.settled = settled, .announced = announced, .synced = 9}));
  EXPECT_EQ(parse_anchor(whole().substr(0, 100)), Anchor{});
}

TEST(AuditAnchor, ARestartOfTheMachineIsToldByItsClocks) {
  const Slot slot{.real_ms = 1'000'000'000, .boot_ms = 500'000};
  EXPECT_FALSE(restarted_since(slot, 1'000'060'000, 560'000));
  EXPECT_FALSE(restarted_since(slot, 1'000'061'000, 560'000));  // the clock was corrected by a second
  EXPECT_TRUE(restarted_since(slot, 1'000'060'000, 20'000));
  EXPECT_TRUE(restarted_since(slot, 1'900'000'000, 700'000));
}

}  // namespace
}  // namespace harn::audit

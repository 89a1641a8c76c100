// SPDX-License-Identifier: Apache-2.0
#include "run/hidden_memory.h"

#include <gtest/gtest.h>

namespace harn::run {
namespace {

using std::chrono::milliseconds;

TEST(HiddenMemory, OnlyWhatStaysCounts) {
  HiddenMemory memory;
  const auto start = HiddenMemory::Clock::now();
  const auto told = [&](int at_ms, std::uint64_t bytes) { return memory.lasting(bytes, start + milliseconds(at_ms)); };
  EXPECT_EQ(told(0, 100), 0u) << "not a second yet";
  EXPECT_EQ(told(900, 300), 0u);
  EXPECT_EQ(told(1000, 300), 100u) << "the least of one second";
  EXPECT_EQ(told(1950, 500), 300u) << "what is older than that is forgotten";
  EXPECT_EQ(told(2000, 0), 0u) << "given back";
  EXPECT_EQ(told(2900, 500), 0u);
  EXPECT_EQ(told(3900, 500), 500u);
}

}  // namespace
}  // namespace harn::run

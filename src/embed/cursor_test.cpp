// SPDX-License-Identifier: Apache-2.0
#include "embed/cursor.h"

#include <gtest/gtest.h>

#include "support/temp_dir.h"
#include "sys/files.h"
#include "tape/test_records.h"

namespace harn::embed {
namespace {

class Cursors : public testing::Test {
 protected:
  void SetUp() override {
    auto writer = TapeWriter::open(dir_.path("x.tape"));
    ASSERT_TRUE(writer) << describe(writer.error());
    for (const auto* word : {"1", "2"}) ASSERT_TRUE(writer->append(test::ended(test::described({"echo", word}), word)));
  }
  Replay replay() const { return Replay(std::move(*Tape::open(dir_.path("x.tape")))); }

  test::TempDir dir_;
};

TEST_F(Cursors, WhatWasPlayedIsKnownToTheNextCall) {
  auto first = replay();
  {
    const auto cursor = Cursor::open(dir_.path("c"), first);
    ASSERT_TRUE(cursor) << describe(cursor.error());
    ASSERT_TRUE(first.next(test::described({"echo", "1"}), input_from(""))->divergences.empty());
    ASSERT_TRUE(cursor->keep(first));
  }
  auto second = replay();
  ASSERT_TRUE(Cursor::open(dir_.path("c"), second));
  EXPECT_EQ(second.played(), (std::vector<bool>{true, false}));
}

TEST_F(Cursors, ItIsWrittenThroughNoLink) {
  dir_.directory("victim");
  dir_.link("way", "victim");
  auto one = replay();
  EXPECT_FALSE(Cursor::open(dir_.path("way/c"), one));
  dir_.file("file", "{}");
  dir_.link("c", "file");
  EXPECT_FALSE(Cursor::open(dir_.path("c"), one));
}

TEST_F(Cursors, WhatIsNoCursorIsRefused) {
  auto one = replay();
  EXPECT_FALSE(Cursor::open(dir_.file("a", "not JSON"), one));
  EXPECT_FALSE(Cursor::open(dir_.file("b", R"({"format":"harn.cursor.v1","tape":"x","played":"1"})"), one));
}

}  // namespace
}  // namespace harn::embed

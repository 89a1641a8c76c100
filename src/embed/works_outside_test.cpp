// SPDX-License-Identifier: Apache-2.0
#include "embed/works_outside.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/temp_dir.h"

namespace harn::embed {
namespace {

class WorksOutside : public testing::Test {
 protected:
  AbsPath with_mode(std::string_view name, mode_t mode) const {
    auto file = temp_.file(name, "x");
    EXPECT_EQ(::chmod(file.text().c_str(), mode), 0);
    return file;
  }
  test::TempDir temp_;
};

// Also for root: a command does not have its privileges.
TEST_F(WorksOutside, ModeBitsCountForEverybody) {
  EXPECT_TRUE(works_outside(with_mode("r", 0400), Wanted::reading));
  EXPECT_FALSE(works_outside(with_mode("none", 0), Wanted::reading));
  EXPECT_TRUE(works_outside(with_mode("none", 0), Wanted::finding));
  EXPECT_TRUE(works_outside(with_mode("none", 0), Wanted::metadata));
  EXPECT_FALSE(works_outside(with_mode("r", 0400), Wanted::writing));
  EXPECT_TRUE(works_outside(with_mode("w", 0200), Wanted::writing));
  EXPECT_FALSE(works_outside(with_mode("w", 0600), Wanted::running));
  EXPECT_TRUE(works_outside(with_mode("x", 0500), Wanted::running));
}

TEST_F(WorksOutside, NamesAreTheDirectorysAffair) {
  const auto open = temp_.directory("open");
  const auto closed = temp_.directory("closed");
  temp_.file("open/f", "x");
  temp_.file("closed/f", "x");
  ASSERT_EQ(::chmod(closed.text().c_str(), 0500), 0);
  EXPECT_TRUE(works_outside(open.join("new"), Wanted::making));
  EXPECT_FALSE(works_outside(open.join("f"), Wanted::making)) << "it is there";
  EXPECT_FALSE(works_outside(open.join("no/new"), Wanted::making));
  EXPECT_TRUE(works_outside(open.join("f"), Wanted::removing));
  EXPECT_FALSE(works_outside(closed.join("new"), Wanted::making));
  EXPECT_FALSE(works_outside(closed.join("f"), Wanted::removing));
  EXPECT_FALSE(works_outside(open.join("nothing"), Wanted::finding));
  ASSERT_EQ(::chmod(closed.text().c_str(), 0600), 0);
  EXPECT_FALSE(works_outside(closed.join("f"), Wanted::reading)) << "nobody may enter";
  ASSERT_EQ(::chmod(closed.text().c_str(), 0700), 0);
}

TEST_F(WorksOutside, WhatIsNoSocketAcceptsNobody) { EXPECT_FALSE(works_outside(temp_.file("f", "x"), Wanted::reaching)); }

}  // namespace
}  // namespace harn::embed

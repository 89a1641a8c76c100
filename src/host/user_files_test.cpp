// SPDX-License-Identifier: Apache-2.0
#include "host/user_files.h"

#include <cerrno>
#include <filesystem>

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace harn::host {
namespace {

TEST(UserFiles, AMissingFileIsNothingAndAnUnreadableOneAnError) {
  const test::TempDir temp;
  temp.file("f", "text");
  const auto present = read_user_file_if_present(temp.path("f"), 10);
  ASSERT_TRUE(present);
  EXPECT_EQ(*present, "text");
  for (const auto* name : {"none", "none/below", "f/below"}) {
    const auto missing = read_user_file_if_present(temp.path(name), 10);
    ASSERT_TRUE(missing) << name;
    EXPECT_EQ(*missing, std::nullopt) << name;
  }
  EXPECT_FALSE(read_user_file_if_present(temp.path("f"), 3));
  EXPECT_FALSE(read_user_file_if_present(temp.path(), 10));
  EXPECT_FALSE(read_user_file(temp.path("none"), 10));
}

TEST(UserFiles, WhatIsKeptReadsBack) {
  const test::TempDir temp;
  ASSERT_TRUE(keep_user_file(temp.path("a/b"), "one"));
  ASSERT_TRUE(keep_user_file(temp.path("a/b"), "two"));
  EXPECT_EQ(read_user_file(temp.path("a/b"), 10), "two");
}

TEST(UserFiles, AHeldPlaceStaysWhereItWasWhenNamesOnTheWayChange) {
  const test::TempDir temp;
  temp.directory("a/b");
  const auto place = HeldPlace::open(temp.path("a/b/file"));
  ASSERT_TRUE(place);
  std::filesystem::rename(temp.path("a/b").text(), temp.path("moved").text());
  temp.directory("elsewhere");
  temp.link("a/b", temp.path("elsewhere").text());
  ASSERT_TRUE(place->keep("text"));
  EXPECT_EQ(read_user_file(temp.path("moved/file"), 10), "text");
  EXPECT_FALSE(std::filesystem::exists(temp.path("elsewhere/file").text()));
}

TEST(UserFiles, APlaceWhereNothingCanBeMadeIsNotHeld) {
  const test::TempDir temp;
  temp.directory("is/a/directory");
  temp.link("link", "is");
  for (const auto& path : {temp.path("is/a/directory"), temp.path("link"), temp.path("new/file"), AbsPath::of("/dev/null")})
    EXPECT_EQ(HeldPlace::open(path).error().code, ErrorCode::refused) << path.text();
  EXPECT_FALSE(HeldPlace::open(AbsPath::of("/proc/self/receipt")));
  ASSERT_TRUE(HeldPlace::open(temp.path("is/file")));
  EXPECT_FALSE(std::filesystem::exists(temp.path("is/file").text()));
}

}  // namespace
}  // namespace harn::host

// SPDX-License-Identifier: Apache-2.0
#include "sys/own_directory.h"

#include <sys/stat.h>

#include <fstream>

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace harn::sys {
namespace {

TEST(OwnDirectory, IsPrivateAndGoesWithEverythingInIt) {
  const test::TempDir temp;
  {
    const auto made = OwnDirectory::make(temp.path(), "own-");
    ASSERT_TRUE(made);
    struct stat status = {};
    ASSERT_EQ(::stat(made->path().text().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0700u);
    std::filesystem::create_directories(made->path().join("a/b").text());
    std::ofstream(made->path().join("a/b/c").text()) << "x";
  }
  EXPECT_TRUE(std::filesystem::is_empty(temp.root()));
}

TEST(OwnDirectory, IsRemovedOnceHoweverOftenItMoves) {
  const test::TempDir temp;
  auto made = OwnDirectory::make(temp.path(), "own-");
  ASSERT_TRUE(made);
  const auto path = made->path().text();
  {
    const OwnDirectory moved = std::move(*made);
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(OwnDirectory, APlaceThatCannotBeWrittenIsAnError) { EXPECT_FALSE(OwnDirectory::make(AbsPath::of("/proc/nowhere"), "own-")); }

}  // namespace
}  // namespace harn::sys

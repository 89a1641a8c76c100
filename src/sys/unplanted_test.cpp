// SPDX-License-Identifier: Apache-2.0
#include "sys/unplanted.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace harn::sys {
namespace {

TEST(Unplanted, ADirectoryIsHeldUnderItsRealName) {
  const test::TempDir dir;
  std::filesystem::create_directories(dir.path("a/b").text());
  const auto held = hold_unplanted_parent(dir.path("a/b/file"), "tape");
  ASSERT_TRUE(held) << describe(held.error());
  EXPECT_EQ(held->path, dir.path("a/b"));
  struct stat is = {};
  struct stat wanted = {};
  ASSERT_EQ(::fstat(held->directory.get(), &is), 0);
  ASSERT_EQ(::stat(dir.path("a/b").text().c_str(), &wanted), 0);
  EXPECT_EQ(is.st_ino, wanted.st_ino);
}

TEST(Unplanted, NoLinkOfACommandLeadsAnywhere) {
  const test::TempDir dir;
  std::filesystem::create_directories(dir.path("victim/sub").text());
  std::filesystem::create_directories(dir.path("p").text());
  std::filesystem::create_directory_symlink("../victim", dir.path("p/way").text());
  for (const auto* name : {"p/way/file", "p/way/sub/file"}) {
    const auto held = hold_unplanted_parent(dir.path(name), "tape");
    ASSERT_FALSE(held) << name;
    EXPECT_NE(held.error().message.find("a link leads there"), std::string::npos) << held.error().message;
  }
}

TEST(Unplanted, WhatIsMissingOrNoDirectoryIsNamed) {
  const test::TempDir dir;
  const auto held = hold_unplanted_parent(dir.path("absent/file"), "tape");
  ASSERT_FALSE(held);
  EXPECT_NE(held.error().message.find("absent"), std::string::npos);
  EXPECT_EQ(held.error().os_error, ENOENT);
}

// The system's own way to say where something is: on many systems /bin and /lib are links in the root directory.
TEST(Unplanted, LinksOfTheSystemAreFollowed) {
  struct stat seen = {};
  if (::lstat("/bin", &seen) != 0 || !S_ISLNK(seen.st_mode)) GTEST_SKIP() << "/bin is no link here";
  const auto held = hold_unplanted_parent(AbsPath::of("/bin/x"), "tape");
  ASSERT_TRUE(held) << describe(held.error());
  EXPECT_EQ(held->path.text(), std::filesystem::canonical("/bin").string());
}

}  // namespace
}  // namespace harn::sys

// SPDX-License-Identifier: Apache-2.0
#include "sys/own_directory.h"

#include <signal.h>

#include <sys/stat.h>

#include <fstream>

#include <chrono>
#include <filesystem>

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

TEST(OwnDirectory, SignalsThatWouldEndUsWaitUntilItIsGone) {
  const test::TempDir temp;
  sigset_t now;
  {
    const auto first = OwnDirectory::make(temp.path(), "own-");
    const auto second = OwnDirectory::make(temp.path(), "own-");
    ASSERT_TRUE(first && second);
    ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
    EXPECT_EQ(::sigismember(&now, SIGINT), 1);
  }
  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
  EXPECT_EQ(::sigismember(&now, SIGINT), 0);
}

TEST(OwnDirectory, WhatAKilledProgramLeftIsSweptAndWhatLivesIsNot) {
  const test::TempDir temp;
  temp.file("own-leftover/deep/file");
  temp.directory("own-young");
  std::filesystem::last_write_time(temp.path("own-leftover").text(),
                                   std::filesystem::file_time_type::clock::now() - std::chrono::minutes(2));
  temp.file("other");
  const auto live = OwnDirectory::make(temp.path(), "own-");
  ASSERT_TRUE(live);
  EXPECT_FALSE(std::filesystem::exists(temp.path("own-leftover").text()));
  EXPECT_TRUE(std::filesystem::exists(temp.path("own-young").text())) << "somebody may have made it just now";
  const auto next = OwnDirectory::make(temp.path(), "own-");
  ASSERT_TRUE(next);
  EXPECT_TRUE(std::filesystem::exists(live->path().text()));
  EXPECT_TRUE(std::filesystem::exists(temp.path("other").text()));
}

}  // namespace
}  // namespace harn::sys

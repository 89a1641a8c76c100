// SPDX-License-Identifier: Apache-2.0
#include "run/scratch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>

#include "sys/unique_fd.h"

namespace harn::run {
namespace {

namespace fs = std::filesystem;

class ScratchDirectory : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/harn-scratch-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }
  AbsPath place() const { return AbsPath::of(root_.string()).join(".harn-tmp"); }
  std::string ignored() const {
    std::ifstream file(root_ / ".harn-tmp/.gitignore");
    std::string line;
    std::getline(file, line);
    return line;
  }

  fs::path root_ = {};
};

TEST_F(ScratchDirectory, IgnoresItselfAndIsGoneAfterwards) {
  {
    const auto scratch = Scratch::make(place());
    ASSERT_TRUE(scratch);
    EXPECT_EQ(ignored(), "*");
    fs::create_directories(root_ / ".harn-tmp/a/b");
  }
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(ScratchDirectory, StaysWhileAnotherRunUsesIt) {
  std::optional<Scratch> first = *Scratch::make(place());
  std::optional<Scratch> second = *Scratch::make(place());
  first.reset();
  EXPECT_TRUE(fs::exists(root_ / ".harn-tmp"));
  second.reset();
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(ScratchDirectory, IsNotTakenThroughALink) {
  fs::create_directories(root_ / "elsewhere");
  fs::create_directory_symlink(root_ / "elsewhere", root_ / ".harn-tmp");
  EXPECT_FALSE(Scratch::make(place()));
}

// What an earlier command left under the name must neither hold us up nor lead us elsewhere.
TEST_F(ScratchDirectory, ReplacesWhateverStandsInTheWayOfItsIgnoreFile) {
  const auto directory = root_ / ".harn-tmp";
  const auto ignore = directory / ".gitignore";
  const auto elsewhere = root_ / "elsewhere";
  std::ofstream(elsewhere) << "precious";
  const std::function<void()> plants[] = {
      [&] { ASSERT_EQ(::mkfifo(ignore.c_str(), S_IRWXU), 0); },
      [&] { fs::create_directories(ignore / "a/b"); },
      [&] { fs::create_symlink(elsewhere, ignore); },
      [&] { fs::create_hard_link(elsewhere, ignore); },
  };
  for (const auto& plant : plants) {
    fs::create_directory(directory);
    plant();
    {
      const auto scratch = Scratch::make(place());
      ASSERT_TRUE(scratch);
      EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(ignore)));
      EXPECT_EQ(ignored(), "*");
    }
    EXPECT_FALSE(fs::exists(directory));
    EXPECT_EQ(fs::file_size(elsewhere), 8u);
  }
}

TEST_F(ScratchDirectory, DoesNotWaitForeverForItsLock) {
  fs::create_directory(root_ / ".harn-tmp");
  const sys::UniqueFd held(::open((root_ / ".harn-tmp").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(held.get(), LOCK_EX), 0);
  const auto start = std::chrono::steady_clock::now();
  const auto scratch = Scratch::make(place());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  ASSERT_FALSE(scratch);
  EXPECT_NE(scratch.error().message.find("locked"), std::string::npos) << scratch.error().message;
}

// A command that swaps the directory for a link to something precious must not have it emptied.
TEST_F(ScratchDirectory, EmptiesOnlyWhatItMade) {
  fs::create_directories(root_ / "precious");
  std::ofstream(root_ / "precious/file") << "x";
  {
    const auto scratch = Scratch::make(place());
    ASSERT_TRUE(scratch);
    fs::rename(root_ / ".harn-tmp", root_ / "moved");
    fs::create_directory_symlink(root_ / "precious", root_ / ".harn-tmp");
  }
  EXPECT_TRUE(fs::exists(root_ / "precious/file"));
  EXPECT_TRUE(fs::is_symlink(root_ / ".harn-tmp"));
}

}  // namespace
}  // namespace harn::run

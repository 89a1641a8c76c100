// SPDX-License-Identifier: Apache-2.0
#include "run/scratch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

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

  fs::path root_ = {};
};

TEST_F(ScratchDirectory, IgnoresItselfAndIsGoneAfterwards) {
  {
    const auto scratch = Scratch::make(place());
    ASSERT_TRUE(scratch);
    std::ifstream ignore(root_ / ".harn-tmp/.gitignore");
    std::string line;
    std::getline(ignore, line);
    EXPECT_EQ(line, "*");
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

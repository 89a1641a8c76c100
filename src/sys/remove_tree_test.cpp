// SPDX-License-Identifier: Apache-2.0
#include "sys/remove_tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sys/unique_fd.h"

namespace harn::sys {
namespace {

namespace fs = std::filesystem;

class RemoveTree : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/harn-remove-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }

  bool empty() {
    const UniqueFd fd(::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return empty_directory(fd.get());
  }

  fs::path root_ = {};
};

TEST_F(RemoveTree, RemovesFilesDirectoriesAndClosedDirectories) {
  fs::create_directories(root_ / "a/b");
  std::ofstream(root_ / "a/b/file") << "x";
  ::chmod((root_ / "a/b").c_str(), 0);
  EXPECT_TRUE(empty());
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(RemoveTree, RemovesLinksAndNotWhatTheyLeadTo) {
  const auto outside = fs::path(root_.string() + "-outside");
  fs::create_directories(outside);
  std::ofstream(outside / "kept") << "x";
  fs::create_directory_symlink(outside, root_ / "link");
  EXPECT_TRUE(empty());
  EXPECT_TRUE(fs::exists(outside / "kept"));
  fs::remove_all(outside);
}

// Deeper than the descriptors a process may have by default.
TEST_F(RemoveTree, RemovesATreeOfAnyDepth) {
  UniqueFd at(::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < 3000; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), "d", 0700), 0);
    at = UniqueFd(::openat(at.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(at);
  }
  at = {};
  EXPECT_TRUE(empty());
}

}  // namespace
}  // namespace harn::sys

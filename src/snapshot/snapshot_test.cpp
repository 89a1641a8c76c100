// SPDX-License-Identifier: Apache-2.0
// Snapshots of real directories: what comes back is what was there.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "snapshot/store.h"

namespace harn::snapshot {
namespace {

namespace fs = std::filesystem;

class Snapshots : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/var/tmp/harn-snapshot-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    ground_ = name;
    fs::create_directories(ground_ / "tree/sub/deeper");
    write("tree/a", "first");
    write("tree/sub/b", "second");
    write("tree/sub/deeper/odd\tname\n%41", "third");
    fs::create_symlink("../a", ground_ / "tree/sub/link");
    fs::create_symlink("/etc/passwd", ground_ / "tree/outside");
    ::chmod((ground_ / "tree/a").c_str(), 0750);
    store_.emplace(AbsPath::of((ground_ / "store").string()));
  }
  void TearDown() override { fs::remove_all(ground_); }

  void write(const std::string& name, const std::string& text) const { std::ofstream(ground_ / name) << text; }
  std::string read(const std::string& name) const {
    std::ifstream in(ground_ / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  Result<Snapshot> take(const std::string& id, const Snapshot* before = nullptr) const {
    return store_->take({{.name = "root", .place = AbsPath::of((ground_ / "tree").string())}}, {.id = id, .session = "s"}, before);
  }
  AbsPath place(const std::string& name) const { return AbsPath::of((ground_ / name).string()); }

  fs::path ground_ = {};
  std::optional<Store> store_ = {};
};

TEST_F(Snapshots, WhatWasThereComesBack) {
  const auto taken = take("one");
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ(taken->files, 3u);
  EXPECT_EQ(taken->bytes, 5u + 6 + 5);
  write("tree/a", "changed");
  write("tree/new", "later");
  fs::remove_all(ground_ / "tree/sub");
  fs::create_directory(ground_ / "tree/outside2");
  const auto loaded = store_->load("one");
  ASSERT_TRUE(loaded);
  ASSERT_TRUE(store_->restore(loaded->trees[0], place("tree")));
  EXPECT_EQ(read("tree/a"), "first");
  EXPECT_EQ(fs::status(ground_ / "tree/a").permissions(), static_cast<fs::perms>(0750));
  EXPECT_FALSE(fs::exists(ground_ / "tree/new"));
  EXPECT_EQ(read("tree/sub/deeper/odd\tname\n%41"), "third");
  EXPECT_EQ(fs::read_symlink(ground_ / "tree/outside"), "/etc/passwd");
  // Into another place too.
  fs::create_directory(ground_ / "other");
  ASSERT_TRUE(store_->restore(loaded->trees[0], place("other")));
  EXPECT_EQ(read("other/sub/b"), "second");
}

TEST_F(Snapshots, OnlyWhatChangedIsNew) {
  const auto first = take("one");
  ASSERT_TRUE(first);
  write("tree/c", "fourth");
  write("tree/same", "first");  // known by its content
  const auto second = take("two", &*first);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->new_bytes, 6u);
  EXPECT_EQ(take("three", &*second)->new_bytes, 0u);
  EXPECT_EQ(take("three").error().os_error, EEXIST);
  EXPECT_EQ(*store_->ids(), (std::vector<std::string>{"one", "three", "two"}));
}

TEST_F(Snapshots, DamageIsNoticed) {
  const auto taken = take("one");
  ASSERT_TRUE(taken);
  const auto& entry = *std::ranges::find(taken->trees[0].entries, "a", &Entry::path);
  {
    std::ofstream(ground_ / "store/objects" / entry.content) << "forged";
  }
  write("tree/a", "changed");
  const auto restored = store_->restore(taken->trees[0], place("tree"));
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code, ErrorCode::protocol);
  auto text = print_snapshot(*taken);
  EXPECT_EQ(parse_snapshot(text)->trees[0].entries, taken->trees[0].entries);
  for (const std::size_t cut : {text.size() - 1, text.size() / 2, std::size_t{0}}) EXPECT_FALSE(parse_snapshot(text.substr(0, cut)));
  text[text.size() / 2] ^= 1;
  EXPECT_FALSE(parse_snapshot(text));
}

TEST_F(Snapshots, SpecialFilesAreNotOpenedAndLinksNotFollowed) {
  ASSERT_EQ(::mkfifo((ground_ / "tree/pipe").c_str(), 0600), 0);
  const auto taken = take("one");
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->skipped, (std::vector<std::string>{"root:pipe"}));
  EXPECT_EQ(taken->files, 3u);
  // A directory that became a link afterwards is replaced, not written through.
  fs::remove_all(ground_ / "tree/sub");
  fs::create_directory(ground_ / "target");
  fs::create_directory_symlink(ground_ / "target", ground_ / "tree/sub");
  ASSERT_TRUE(store_->restore(taken->trees[0], place("tree")));
  EXPECT_TRUE(fs::is_empty(ground_ / "target"));
  EXPECT_EQ(read("tree/sub/b"), "second");
}

TEST_F(Snapshots, RemovingOneKeepsWhatOthersUse) {
  const auto first = take("one");
  write("tree/a", "changed");
  ASSERT_TRUE(take("two"));
  ASSERT_TRUE(store_->remove("one"));
  EXPECT_FALSE(store_->load("one"));
  const auto second = store_->load("two");
  ASSERT_TRUE(second);
  fs::remove_all(ground_ / "tree");
  fs::create_directory(ground_ / "tree");
  ASSERT_TRUE(store_->restore(second->trees[0], place("tree")));
  EXPECT_EQ(read("tree/a"), "changed");
  EXPECT_EQ(std::distance(fs::directory_iterator(ground_ / "store/objects"), {}), 3);
}

}  // namespace
}  // namespace harn::snapshot

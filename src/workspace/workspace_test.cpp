// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "support/temp_dir.h"
#include "workspace/pending.h"
#include "workspace/renames.h"

namespace harn::workspace {
namespace {

namespace fs = std::filesystem;

std::string text_of(const AbsPath& path) {
  std::ifstream in(path.text(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Workspace : public ::testing::Test {
 protected:
  Workspace() {
    dir_.file("p/a", "one\n");
    dir_.file("p/sub/b", "two\n");
    dir_.file("p/sub/deep/c", "three\n");
    dir_.link("p/link", "a");
    auto begun = Pending::begin(dir_.path("place"), {root_});
    EXPECT_TRUE(begun) << describe(begun.error());
    pending_.emplace(std::move(*begun));
    upper_ = pending_->layers().front().upper;
  }

  AbsPath upper(const std::string& relative) const { return upper_.join(relative); }
  void write(const std::string& relative, std::string_view text) const {
    const auto at = upper(relative);
    fs::create_directories(at.parent().text());
    std::ofstream(at.text(), std::ios::binary) << text;
  }
  // As overlayfs marks what is gone.
  void whiteout(const std::string& relative) const {
    fs::create_directories(upper(relative).parent().text());
    ASSERT_EQ(::mknod(upper(relative).text().c_str(), S_IFCHR, makedev(0, 0)), 0);
  }
  void opaque(const std::string& relative) const {
    fs::create_directories(upper(relative).text());
    ASSERT_EQ(::setxattr(upper(relative).text().c_str(), "user.overlay.opaque", "y", 1, 0), 0);
  }

  std::vector<std::string> told() const {
    const auto found = pending_->changes();
    EXPECT_TRUE(found) << describe(found.error());
    static constexpr const char* names[] = {"added", "modified", "mode", "replaced", "deleted"};
    std::vector<std::string> out;
    for (const auto& [layer, change] : *found)
      out.push_back(names[static_cast<int>(change.kind)] + (" " + change.path) + (change.conflict.empty() ? "" : " !"));
    return out;
  }

  Pending::Outcome apply() {
    auto found = pending_->changes();
    EXPECT_TRUE(found);
    auto done = pending_->apply(std::move(*found));
    EXPECT_TRUE(done) << describe(done.error());
    return std::move(*done);
  }

  test::TempDir dir_;
  AbsPath root_ = dir_.path("p");
  AbsPath upper_ = {};
  std::optional<Pending> pending_ = {};
};

using Lines = std::vector<std::string>;

TEST_F(Workspace, EveryKindOfChangeIsToldAndApplied) {
  write("a", "ONE\n");
  write("new/file", "n\n");
  whiteout("sub/b");
  write("sub/deep", "a file now\n");
  fs::create_symlink("elsewhere", upper("link").text());
  EXPECT_EQ(told(), (Lines{"modified a", "modified link", "added new", "added new/file", "deleted sub/b", "replaced sub/deep",
                           "deleted sub/deep/c"}));
  const auto done = apply();
  EXPECT_EQ(done.done, 7u);
  EXPECT_TRUE(done.left.empty());
  EXPECT_EQ(text_of(root_.join("a")), "ONE\n");
  EXPECT_EQ(text_of(root_.join("new/file")), "n\n");
  EXPECT_FALSE(fs::exists(root_.join("sub/b").text()));
  EXPECT_EQ(text_of(root_.join("sub/deep")), "a file now\n");
  EXPECT_EQ(fs::read_symlink(root_.join("link").text()), "elsewhere");
  EXPECT_TRUE(told().empty());
  EXPECT_TRUE(*pending_->is_empty());
}

TEST_F(Workspace, WhatChangesNothingIsNotTold) {
  write("a", "one\n");
  fs::create_directories(upper("sub/deep").text());
  EXPECT_TRUE(told().empty());
  ::chmod(upper("a").text().c_str(), 0755);
  EXPECT_EQ(told(), Lines{"mode a"});
  apply();
  struct stat status = {};
  ::stat(root_.join("a").text().c_str(), &status);
  EXPECT_EQ(status.st_mode & 07777, 0755u);
}

TEST_F(Workspace, ADirectoryMadeAnewCoversTheOldOne) {
  opaque("sub");
  write("sub/fresh", "f\n");
  fs::create_directories(upper("sub/deep").text());
  EXPECT_EQ(told(), (Lines{"deleted sub/b", "deleted sub/deep/c", "added sub/fresh"}));
  apply();
  EXPECT_TRUE(fs::exists(root_.join("sub/fresh").text()));
  EXPECT_FALSE(fs::exists(root_.join("sub/b").text()));
  EXPECT_TRUE(fs::is_empty(root_.join("sub/deep").text()));
  EXPECT_TRUE(*pending_->is_empty());
}

TEST_F(Workspace, NobodyElsesChangeIsOverwritten) {
  write("a", "mine\n");
  whiteout("sub");
  write("both", "mine\n");
  dir_.file("p/a", "theirs\n");
  dir_.file("p/both", "theirs\n");
  dir_.file("p/sub/new", "theirs\n");
  EXPECT_EQ(told(), (Lines{"modified a !", "modified both !", "deleted sub", "deleted sub/b", "deleted sub/deep", "deleted sub/deep/c",
                           "deleted sub/new !"}));
  const auto done = apply();
  EXPECT_EQ(text_of(root_.join("a")), "theirs\n");
  EXPECT_EQ(text_of(root_.join("both")), "theirs\n");
  EXPECT_EQ(text_of(root_.join("sub/new")), "theirs\n");
  EXPECT_FALSE(fs::exists(root_.join("sub/b").text()));
  EXPECT_EQ(done.left.size(), 4u) << "the directory stays with what is in it";
  EXPECT_FALSE(*pending_->is_empty());
}

TEST_F(Workspace, WhatWasDeletedOnTheHostIsAConflictToo) {
  write("a", "mine\n");
  fs::remove(root_.join("a").text());
  EXPECT_EQ(told(), Lines{"added a !"});
  apply();
  EXPECT_FALSE(fs::exists(root_.join("a").text()));
}

TEST_F(Workspace, OwnChangesAreNoConflictLater) {
  write("a", "second\n");
  apply();
  write("a", "third\n");
  EXPECT_EQ(told(), Lines{"modified a"});
  pending_.reset();
  auto again = Pending::open(dir_.path("place"));
  ASSERT_TRUE(again && *again);
  pending_.emplace(std::move(**again));
  EXPECT_EQ(apply().done, 1u);
  EXPECT_EQ(text_of(root_.join("a")), "third\n");
}

TEST_F(Workspace, LinksPlantedOnTheWayAreNotFollowed) {
  dir_.file("outside/b", "keep\n");
  write("sub/b", "mine\n");
  fs::remove_all(root_.join("sub").text());
  dir_.link("p/sub", dir_.path("outside").text());
  const auto done = apply();
  EXPECT_EQ(done.done, 0u);
  EXPECT_EQ(text_of(dir_.path("outside/b")), "keep\n");
}

// A command that runs in the project itself may swap a directory for a link while somebody applies: nothing outside is ever touched.
TEST_F(Workspace, DirectoriesSwappedForLinksLeadNowhere) {
  dir_.file("outside/b", "keep\n");
  dir_.file("outside/deep/c", "keep\n");
  dir_.link("p/swap", dir_.path("outside").text());
  const auto root = open_tree(root_);
  ASSERT_TRUE(root);
  std::atomic<bool> over = false;
  std::atomic<int> swaps = 0;
  std::thread swapper([&] {
    while (!over) swaps += ::renameat2(root->get(), "sub", root->get(), "swap", RENAME_EXCHANGE) == 0 ? 1 : 0;
  });
  std::size_t applied = 0;
  for (int i = 0; i < 400; ++i) {
    write("sub/b", "mine " + std::to_string(i) + "\n");
    ::chmod(upper("sub/b").text().c_str(), i % 2 == 0 ? 0600 : 0644);
    if (i % 20 == 0) write("sub/deep/new" + std::to_string(i), "n\n");
    auto found = pending_->changes();
    if (!found) continue;
    for (auto& one : *found) one.change.conflict.clear();  // straight to the check that counts
    if (const auto done = pending_->apply(std::move(*found))) applied += done->done;
  }
  over = true;
  swapper.join();
  EXPECT_GT(swaps, 100);
  EXPECT_GT(applied, 0u);
  const auto kept = [&](const char* name) {
    struct stat status = {};
    ::stat(dir_.path(name).text().c_str(), &status);
    return text_of(dir_.path(name)) == "keep\n" && (status.st_mode & 07777) == 0644;
  };
  EXPECT_TRUE(kept("outside/b"));
  EXPECT_TRUE(kept("outside/deep/c"));
  EXPECT_EQ(std::distance(fs::recursive_directory_iterator(dir_.path("outside").text()), {}), 3);
}

TEST_F(Workspace, AnInterruptedChangeIsFinishedOrUndone) {
  const auto note = pending_->layers().front().manifest.parent().join("applying");
  // The old file lies aside, the new one stands: only the removal is missing.
  write("a", "ONE\n");
  fs::rename(root_.join("a").text(), root_.join(".harn-apply-1").text());
  dir_.file("p/a", "ONE\n");
  std::ofstream(note.text()) << "a\n.harn-apply-1\n";
  pending_.reset();
  auto again = Pending::open(dir_.path("place"));
  ASSERT_TRUE(again && *again);
  pending_.emplace(std::move(**again));
  EXPECT_FALSE(fs::exists(root_.join(".harn-apply-1").text()));
  EXPECT_FALSE(fs::exists(note.text()));
  EXPECT_TRUE(told().empty()) << "it is there already";
}

TEST_F(Workspace, OneAtATimeAndGoneWhenDiscarded) {
  write("a", "x\n");
  EXPECT_FALSE(Pending::open(dir_.path("place")));
  ASSERT_TRUE(pending_->discard());
  pending_.reset();
  const auto after = Pending::open(dir_.path("place"));
  ASSERT_TRUE(after);
  EXPECT_FALSE(*after);
  EXPECT_FALSE(fs::exists(dir_.path("place").text()));
  EXPECT_EQ(text_of(root_.join("a")), "one\n");
}

TEST_F(Workspace, RenamesAreToldByContentAndMode) {
  write("new/a", "one\n");
  whiteout("a");
  write("other", "two\n");
  ::chmod(upper("other").text().c_str(), 0755);
  whiteout("sub/b");
  std::vector<Change> changes;
  const auto found = pending_->changes();
  ASSERT_TRUE(found);
  for (const auto& [layer, change] : *found) changes.push_back(change);
  const auto renames = find_renames(pending_->layers().front(), changes);
  ASSERT_TRUE(renames) << describe(renames.error());
  EXPECT_EQ(*renames, (std::map<std::string, std::string>{{"new/a", "a"}}));
}

// Where no layer can lie over the tree: the same answers from a copy.
TEST_F(Workspace, ACopyTellsAndAppliesTheSame) {
  pending_.reset();
  const auto refuse = [](const AbsPath&, const AbsPath&) {
    return Status(fail(Error{.code = ErrorCode::not_available, .stage = Stage::prepare, .message = "tried"}));
  };
  auto begun = Pending::begin(dir_.path("copies"), {root_}, refuse);
  ASSERT_TRUE(begun) << describe(begun.error());
  pending_.emplace(std::move(*begun));
  ASSERT_TRUE(pending_->layers().front().copied);
  upper_ = pending_->layers().front().upper;
  EXPECT_TRUE(told().empty());
  EXPECT_EQ(text_of(upper("sub/deep/c")), "three\n");
  write("a", "ONE\n");
  write("new/file", "n\n");
  fs::remove(upper("sub/b").text());
  fs::remove_all(upper("sub/deep").text());
  write("sub/deep", "a file now\n");
  ::chmod(upper("sub").text().c_str(), 0700);
  dir_.file("p/since", "made on the host\n");
  EXPECT_EQ(told(),
            (Lines{"modified a", "added new", "added new/file", "mode sub", "deleted sub/b", "replaced sub/deep", "deleted sub/deep/c"}));
  dir_.file("p/a", "edited meanwhile\n");
  const auto done = apply();
  EXPECT_EQ(done.done, 6u);
  ASSERT_EQ(done.left.size(), 1u);
  EXPECT_EQ(text_of(root_.join("a")), "edited meanwhile\n");
  EXPECT_EQ(text_of(root_.join("sub/deep")), "a file now\n");
  EXPECT_FALSE(fs::exists(root_.join("sub/b").text()));
  EXPECT_EQ(told(), Lines{"modified a !"});
  EXPECT_FALSE(*pending_->is_empty());
  // What the host changes after it was applied is the host's.
  dir_.file("p/new/file", "host\n");
  EXPECT_EQ(told(), Lines{"modified a !"});
}

}  // namespace
}  // namespace harn::workspace

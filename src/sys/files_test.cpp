// SPDX-License-Identifier: Apache-2.0
#include "sys/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <tuple>

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace harn::sys {
namespace {

using test::TempDir;

TEST(Files, TypesTellALinkFromItsTarget) {
  const TempDir temp;
  temp.file("f");
  temp.link("to_f", "f");
  temp.link("to_nothing", "nowhere");
  ASSERT_EQ(::mkfifo(temp.path("pipe").text().c_str(), 0600), 0);
  struct Case {
    std::string_view name;
    FileType itself, target;
  };
  for (const auto& c : {Case{"", FileType::directory, FileType::directory}, Case{"f", FileType::file, FileType::file},
                        Case{"to_f", FileType::link, FileType::file}, Case{"to_nothing", FileType::link, FileType::missing},
                        Case{"absent", FileType::missing, FileType::missing}, Case{"pipe", FileType::other, FileType::other}}) {
    EXPECT_EQ(type_of(temp.path(c.name)), c.itself) << c.name;
    EXPECT_EQ(target_type_of(temp.path(c.name)), c.target) << c.name;
  }
  EXPECT_EQ(type_of(AbsPath::of("/dev/null")), FileType::device);
}

// Only for root, who can become himself again.
bool as_nobody(const std::function<bool()>& question) {
  EXPECT_EQ(::setegid(65534), 0);
  EXPECT_EQ(::seteuid(65534), 0);
  const bool answer = question();
  EXPECT_EQ(::seteuid(0), 0);
  EXPECT_EQ(::setegid(::getgid()), 0);
  return answer;
}

TEST(Files, LockedIsWhatAnotherClosedAndWeCannotOpen) {
  const TempDir temp;
  ASSERT_EQ(::chmod(temp.path().text().c_str(), 0755), 0);
  for (const auto& [name, mode, locked] : {std::tuple{"closed", 0600, true}, std::tuple{"readable", 0604, false},
                                           std::tuple{"executable", 0601, false}, std::tuple{"group", 0640, true}}) {
    ASSERT_EQ(::chmod(temp.file(name).text().c_str(), static_cast<mode_t>(mode)), 0);
    EXPECT_FALSE(find(temp.path(name)).locked) << name << " is ours";
    if (::geteuid() == 0) {
      EXPECT_EQ(as_nobody([&] { return find(temp.path(name)).locked; }), locked) << name;
    }
  }
}

TEST(Files, AHeldDirectoryCanBeReadAgainAndAgainWhateverItsModeIs) {
  const TempDir temp;
  const auto made = temp.directory("d");
  const auto held = open_directory(made);
  ASSERT_TRUE(held);
  EXPECT_EQ(list_directory(held->get(), 10), std::vector<std::string>{});
  temp.file("d/b");
  temp.file("d/a");
  ASSERT_EQ(::chmod(made.text().c_str(), 0), 0);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(list_directory(held->get(), 10), (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(list_directory(held->get(), 1));
  ASSERT_EQ(::chmod(made.text().c_str(), 0700), 0);
  EXPECT_FALSE(open_directory(temp.path("d/a")));
  EXPECT_TRUE(is_known_absent(temp.path("none")));
  EXPECT_TRUE(is_known_absent(temp.path("d/a/below")));
  EXPECT_FALSE(is_known_absent(temp.path("d/a")));
}

TEST(Files, RealPathFollowsEveryLinkAndNamesLoops) {
  const TempDir temp;
  temp.file("d/f");
  temp.link("l", "d");
  temp.link("a", "b");
  temp.link("b", "a");
  EXPECT_EQ(real_path(temp.path("l/f")), temp.path("d/f"));
  EXPECT_EQ(real_path(temp.path("a")).error().os_error, ELOOP);
  const auto missing = real_path(temp.path("none"));
  EXPECT_EQ(missing.error().os_error, ENOENT);
  EXPECT_EQ(missing.error().message, "realpath '" + temp.path("none").text() + "' failed: No such file or directory");
}

TEST(Files, ReadsWholeRegularFilesOnly) {
  const TempDir temp;
  const std::string text(40000, 'x');
  temp.file("big", text);
  ASSERT_EQ(::mkfifo(temp.path("pipe").text().c_str(), 0600), 0);
  EXPECT_EQ(read_file(temp.path("big"), text.size()), text);
  EXPECT_EQ(read_file(temp.path("big"), text.size() - 1).error().message,
            "the file '" + temp.path("big").text() + "' is longer than 39999 bytes");
  EXPECT_EQ(read_file(temp.path("pipe"), 10).error().message, "'" + temp.path("pipe").text() + "' is not a regular file");
  EXPECT_EQ(read_file(temp.path(), 10).error().message, "'" + temp.root() + "' is not a regular file");
  EXPECT_EQ(read_file(temp.path("none"), 10).error().os_error, ENOENT);
}

TEST(Files, ListsSortedNames) {
  const TempDir temp;
  for (const auto* name : {"b", "a", ".c"}) temp.file(name);
  EXPECT_EQ(list_directory(temp.path(), 3), (std::vector<std::string>{".c", "a", "b"}));
  EXPECT_EQ(list_directory(temp.path(), 2).error().message, "'" + temp.root() + "' has more than 2 entries");
  EXPECT_EQ(list_directory(temp.path("a"), 2).error().os_error, ENOTDIR);
}

TEST(Files, RightsAreThoseOfThisProcess) {
  const TempDir temp;
  temp.file("plain");
  temp.file("program");
  ASSERT_EQ(::chmod(temp.path("program").text().c_str(), 0755), 0);
  EXPECT_FALSE(is_executable(temp.path("plain")));
  EXPECT_TRUE(is_executable(temp.path("program")));
  EXPECT_FALSE(is_executable(temp.path()));
  EXPECT_TRUE(is_writable_directory(temp.path()));
  EXPECT_FALSE(is_writable_directory(temp.path("plain")));
  EXPECT_FALSE(is_writable_directory(AbsPath::of("/proc/self")));
}

TEST(Files, AStrangersFileInASharedDirectoryIsNotEntitled) {
  const TempDir temp;
  temp.file("mine");
  temp.link("link", "mine");
  EXPECT_TRUE(is_entitled_file(temp.path("mine")));
  EXPECT_TRUE(is_entitled_file(temp.path("link")));
  EXPECT_FALSE(is_entitled_file(temp.path()));
  EXPECT_FALSE(is_entitled_file(temp.path("none")));
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make another user's file";
  ASSERT_EQ(::chown(temp.path("mine").text().c_str(), 12345, 12345), 0);
  EXPECT_FALSE(is_entitled_file(temp.path("mine")));
  ASSERT_EQ(::chown(temp.root().c_str(), 12345, 12345), 0);
  EXPECT_TRUE(is_entitled_file(temp.path("mine")));
  // Nor is a directory of his own, whatever he put in it.
  temp.file("shared/.harness/config.toml");
  for (const auto* name : {"shared/.harness", "shared/.harness/config.toml"})
    ASSERT_EQ(::chown(temp.path(name).text().c_str(), 12345, 12345), 0);
  EXPECT_TRUE(is_entitled_file(temp.path("shared/.harness/config.toml")));
  EXPECT_FALSE(is_entitled(temp.path("shared/.harness")));
}

TEST(Files, ReplacesInOneStepForTheOwnerOnly) {
  const TempDir temp;
  const auto path = temp.path("x/y/trusted");
  ASSERT_TRUE(replace_file(path, "one\n"));
  ASSERT_TRUE(replace_file(path, "two\n"));
  EXPECT_EQ(read_file(path, 100), "two\n");
  EXPECT_EQ(list_directory(path.parent(), 10), (std::vector<std::string>{"trusted"}));
  struct stat status = {};
  ASSERT_EQ(::stat(path.text().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(Files, AFailedReplacementLeavesNothingBehind) {
  const TempDir temp;
  temp.directory("dir/in_the_way");
  temp.file("file");
  EXPECT_FALSE(replace_file(temp.path("dir"), "text"));
  EXPECT_EQ(replace_file(temp.path("file/below"), "text").error().os_error, ENOTDIR);
  EXPECT_EQ(list_directory(temp.path(), 10), (std::vector<std::string>{"dir", "file"}));
}

}  // namespace
}  // namespace harn::sys

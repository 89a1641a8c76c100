// SPDX-License-Identifier: Apache-2.0
#include "files/walk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace harn::files {
namespace {

using sys::FileType;
using test::TempDir;

Place walked(const TempDir& temp, std::string_view path, LastLink last = LastLink::follow) { return *walk(temp.path(), path, last); }

TEST(Walk, EndsWhereTheKernelEnds) {
  const TempDir temp;
  temp.file("real/f");
  temp.directory("real/deep/er");
  temp.link("link", "real");
  temp.link("absolute", temp.path("real/f").text());
  temp.link("chain", "link/deep");
  struct Case {
    std::string_view path, real;
    FileType type;
  };
  for (const auto& c : {Case{"real/f", "real/f", FileType::file}, Case{"link/f", "real/f", FileType::file},
                        Case{"absolute", "real/f", FileType::file}, Case{"chain/er/../../f", "real/f", FileType::file},
                        // Not what the text alone says: ".." of where the link leads.
                        Case{"chain/../f", "real/f", FileType::file}, Case{".//real/./deep/", "real/deep", FileType::directory},
                        Case{"link/new/name", "real/new/name", FileType::missing}, Case{"real/deep/..", "real", FileType::directory}}) {
    const auto place = walked(temp, c.path);
    EXPECT_EQ(place.real, temp.path(c.real)) << c.path;
    EXPECT_EQ(place.type, c.type) << c.path;
    EXPECT_EQ(place.error, 0) << c.path;
    struct stat there = {};
    const bool found = ::fstatat(place.directory.get(), std::string(place.name()).c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0;
    EXPECT_EQ(found, c.type != FileType::missing) << c.path;
  }
}

TEST(Walk, TheLastLinkMayBeMeantItself) {
  const TempDir temp;
  temp.file("f");
  temp.link("link", "f");
  EXPECT_EQ(walked(temp, "link", LastLink::keep).real, temp.path("link"));
  EXPECT_EQ(walked(temp, "link", LastLink::keep).type, FileType::link);
  EXPECT_EQ(walked(temp, "link").type, FileType::file);
}

TEST(Walk, SaysWhyItEndedEarly) {
  const TempDir temp;
  temp.file("f");
  temp.link("loop", "loop");
  temp.link("dangling", "none/at/all");
  EXPECT_EQ(walked(temp, "f/below").error, ENOTDIR);
  EXPECT_EQ(walked(temp, "loop").error, ELOOP);
  EXPECT_EQ(walked(temp, "none/../f").error, ENOENT);
  EXPECT_EQ(walked(temp, "none/../f").real, temp.path("f"));
  EXPECT_EQ(walked(temp, "dangling").error, 0);
  EXPECT_EQ(walked(temp, "dangling").names, (std::vector<std::string>{"none", "at", "all"}));
  EXPECT_EQ(walked(temp, "none/../../../../../../../../x").real, AbsPath::of("/x"));
}

TEST(Walk, TheRootIsAPlaceToo) {
  const TempDir temp;
  for (const auto* path : {"/", "/..", "/../../", "/usr/.."}) {
    const auto place = walked(temp, path);
    EXPECT_TRUE(place.real.is_root()) << path;
    EXPECT_TRUE(place.names.empty()) << path;
    EXPECT_EQ(place.type, FileType::directory) << path;
  }
}

// A magic link is only its text: /proc/self/root inside a view, or a deleted file, opens nothing new.
TEST(Walk, MagicLinksAreNotFollowed) {
  const TempDir temp;
  const auto held = temp.file("held", "x");
  const sys::UniqueFd fd(::open(held.text().c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::unlink(held.text().c_str()), 0);
  const auto place = walked(temp, "/proc/self/fd/" + std::to_string(fd.get()));
  EXPECT_EQ(place.type, FileType::missing);
}

}  // namespace
}  // namespace harn::files

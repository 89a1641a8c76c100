// SPDX-License-Identifier: Apache-2.0
#include "harn/path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/path_order.h"

namespace harn {
namespace {

TEST(AbsPath, NormalisesOnce) {
  const std::pair<std::string_view, std::string_view> table[] = {{"/", "/"},
                                                                 {"//", "/"},
                                                                 {"/a", "/a"},
                                                                 {"/a/", "/a"},
                                                                 {"/a//b", "/a/b"},
                                                                 {"/a/./b/.", "/a/b"},
                                                                 {"/a/../b", "/b"},
                                                                 {"/../..", "/"},
                                                                 {"/a/b/../../..", "/"},
                                                                 {"/a/.../b", "/a/.../b"},
                                                                 {"/ä/ö", "/ä/ö"},
                                                                 {"C:\\Users\\me", "C:/Users/me"},
                                                                 {"c:/x/../y/", "C:/y"},
                                                                 {"C:\\", "C:/"},
                                                                 {"C:", "C:/"},
                                                                 {"C:\\..\\..", "C:/"}};
  for (const auto& [text, want] : table) EXPECT_EQ(AbsPath::parse(text)->text(), want) << text;
}

TEST(AbsPath, RefusesWhatIsNotAbsolute) {
  EXPECT_EQ(AbsPath::parse("").error().message, "the path is empty");
  EXPECT_EQ(AbsPath::parse("a/b").error().message, "the path 'a/b' is not absolute");
  EXPECT_EQ(AbsPath::parse("~/x").error().message, "the path '~/x' is not absolute");
  EXPECT_EQ(AbsPath::parse(std::string_view("/a\0b", 4)).error().message, "the path '/a\\x00b' contains a NUL byte");
  EXPECT_DEATH(AbsPath::of("relative"), "");
}

TEST(AbsPath, ComparesComponentWise) {
  const auto p = [](std::string_view text) { return AbsPath::of(text); };
  EXPECT_TRUE(p("/a").contains(p("/a")));
  EXPECT_TRUE(p("/a").contains(p("/a/b")));
  EXPECT_FALSE(p("/a").contains(p("/ab")));
  EXPECT_FALSE(p("/a/b").contains(p("/a")));
  EXPECT_TRUE(p("/").contains(p("/a")));
  EXPECT_TRUE(p("C:/").contains(p("C:/a")));
  EXPECT_FALSE(p("/").contains(p("C:/a")));
  EXPECT_EQ(p("/a").below(p("/a/b/c")), "b/c");
  EXPECT_EQ(p("/").below(p("/a")), "a");
  EXPECT_EQ(p("/a").below(p("/a")), "");
  EXPECT_EQ(p("/a").below(p("/b")), "");
}

TEST(AbsPath, SortsADirectoryDirectlyBeforeItsSubtree) {
  std::vector<AbsPath> paths;
  for (const auto* text : {"/a-b", "/a/b", "/a", "/a.b", "/", "/a/b/c", "/b"}) paths.push_back(AbsPath::of(text));
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const auto& path : paths) texts.push_back(path.text());
  EXPECT_EQ(texts, (std::vector<std::string>{"/", "/a", "/a/b", "/a/b/c", "/a-b", "/a.b", "/b"}));
}

TEST(AbsPath, KnowsItsParts) {
  const auto path = AbsPath::of("/a/b");
  EXPECT_EQ(path.parent().text(), "/a");
  EXPECT_EQ(path.parent().parent().text(), "/");
  EXPECT_EQ(AbsPath().parent().text(), "/");
  EXPECT_EQ(path.name(), "b");
  EXPECT_EQ(AbsPath().name(), "");
  EXPECT_EQ(path.depth(), 2u);
  EXPECT_EQ(AbsPath().depth(), 0u);
  EXPECT_EQ(AbsPath::of("C:/a").parent().text(), "C:/");
  EXPECT_TRUE(AbsPath::of("C:/").is_root());
  EXPECT_EQ(AbsPath::of("C:/a/b").depth(), 2u);
  EXPECT_EQ(std::hash<AbsPath>{}(path), std::hash<AbsPath>{}(AbsPath::of("/a//b")));
}

TEST(AbsPath, JoinNeverClimbsOut) {
  EXPECT_EQ(AbsPath::of("/a").join("b/c").text(), "/a/b/c");
  EXPECT_EQ(AbsPath::of("/a").join("../../etc").text(), "/a/etc");
  EXPECT_EQ(AbsPath::of("/a").join("b/../c").text(), "/a/c");
  EXPECT_EQ(AbsPath().join("./x/").text(), "/x");
  EXPECT_EQ(AbsPath().join("x/../..").text(), "/");
  EXPECT_EQ(AbsPath::of("/a").join("").text(), "/a");
}

// Eight bytes are compared at a time, so differences before, at and after each such step matter.
TEST(PathOrder, FindsTheFirstDifferenceWhereverItStands) {
  for (std::size_t size = 0; size <= 20; ++size) {
    const std::string text(size, 'a');
    EXPECT_EQ(base::first_difference(text, text), size);
    EXPECT_EQ(base::first_difference(text, text + "/x"), size);
    for (std::size_t at = 0; at < size; ++at) {
      auto other = text;
      other[at] = other[size - 1] = 'b';
      EXPECT_EQ(base::first_difference(text, other), at) << size;
      EXPECT_EQ(base::path_order(text, other), std::strong_ordering::less) << size << ' ' << at;
      other[at] = '/';
      EXPECT_EQ(base::path_order(text, other), std::strong_ordering::greater) << size << ' ' << at;
    }
  }
}

TEST(PathOrder, IsTheSameAtCompileTime) {
  static_assert(base::path_order(".config/gh", ".config-x/gh") < 0);
  EXPECT_TRUE(base::path_order(".config/gh", ".config-x/gh") < 0);
  static_assert(base::path_order("a/b", "a") > 0 && base::path_order("a", "a") == 0);
  static_assert(base::path_contains("a/b", "a/b/c") && !base::path_contains("a/b", "a/bc") && base::path_contains("/", "/a"));
}

TEST(Error, ReadsAsOneLine) {
  const Error error{.code = ErrorCode::refused, .stage = Stage::plan, .message = "no", .hint = "ask", .where = "f:1:2"};
  EXPECT_EQ(describe(error), "f:1:2: no (ask)");
  EXPECT_EQ(describe({.message = "no"}), "no");
  EXPECT_EQ(name_of(ErrorCode::refused), "refused");
  EXPECT_EQ(name_of(Stage::supervise), "supervise");
}

}  // namespace
}  // namespace harn

// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gtest/gtest.h>

namespace harn::base {
namespace {

TEST(Text, QuotesForPeople) {
  EXPECT_EQ(quoted("plain"), "'plain'");
  EXPECT_EQ(quoted("it's \\ it"), "'it\\'s \\\\ it'");
  EXPECT_EQ(quoted("a\nb\x7f"), "'a\\x0ab\\x7f'");
  EXPECT_EQ(quoted("ä€😀"), "'ä€😀'");
  EXPECT_EQ(quoted("\xff\xc3"), "'\\xff\\xc3'");
  EXPECT_EQ(quoted("abcdef", 3), "'abc…'");
  EXPECT_EQ(quoted("a\u009b2Jb\u202ec"), "'a\\xc2\\x9b2Jb\\xe2\\x80\\xaec'");
  EXPECT_EQ(one_line("it's\x1b[2J \u200bä"), "it's\\x1b[2J \\xe2\\x80\\x8bä");
}

TEST(Text, MakesShellWords) {
  EXPECT_EQ(shell_word("make"), "make");
  EXPECT_EQ(shell_word("/a-b_c.d:e@f,g=h+i%j"), "/a-b_c.d:e@f,g=h+i%j");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
}

TEST(Text, SplitsJoinsTrims) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
  EXPECT_EQ(join(std::vector<std::string>{"a", "b"}, ", "), "a, b");
  EXPECT_EQ(join(std::vector<std::string>{}, ", "), "");
  EXPECT_EQ(trim(" \ta b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(lower_ascii("AbÄ"), "abÄ");
}

TEST(Text, KnowsUtf8) {
  EXPECT_TRUE(valid_utf8("ä€😀"));
  for (const auto* bad : {"\x80", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf0\x80\x80\xaf", "\xf4\x90\x80\x80", "\xe2\x82", "\xf5"})
    EXPECT_FALSE(valid_utf8(bad));
}

TEST(Text, SuggestsTheNearestName) {
  static constexpr std::string_view names[] = {"workspace_roots", "read_only_roots", "network"};
  EXPECT_EQ(nearest_name("workspace_root", names), "workspace_roots");
  EXPECT_EQ(nearest_name("Netwrok", names), "network");
  EXPECT_EQ(nearest_name("netwrok", names), "network");
  static constexpr std::string_view verbs[] = {"plan", "policy"};
  EXPECT_EQ(nearest_name("paln", verbs), "plan");
  EXPECT_EQ(nearest_name("zzz", names), "");
  EXPECT_EQ(nearest_name(std::string(100, 'n'), names), "");
}

}  // namespace
}  // namespace harn::base

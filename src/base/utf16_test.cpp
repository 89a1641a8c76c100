// SPDX-License-Identifier: Apache-2.0
#include "base/utf16.h"

#include <gtest/gtest.h>

namespace harn::base {
namespace {

TEST(Utf16, GoesThereAndBack) {
  for (const auto* text : {"", "abc", "zwölf", "日本", "😀 x 😀", "\xEF\xBF\xBF", "\xF4\x8F\xBF\xBF"}) {
    const auto wide = to_utf16(text);
    ASSERT_TRUE(wide) << text;
    EXPECT_EQ(*to_utf8(*wide), text);
  }
  EXPECT_EQ(*to_utf16("ü😀"), u"ü😀");
}

TEST(Utf16, EveryCodePointSurvives) {
  for (char32_t point = 1; point < 0x110000; point += 37) {
    if (point >= 0xD800 && point < 0xE000) continue;
    std::u16string wide;
    if (point < 0x10000) wide = {static_cast<char16_t>(point)};
    else wide = {static_cast<char16_t>(0xD800 + ((point - 0x10000) >> 10)), static_cast<char16_t>(0xDC00 + ((point - 0x10000) & 0x3FF))};
    const auto narrow = to_utf8(wide);
    ASSERT_TRUE(narrow);
    EXPECT_EQ(*to_utf16(*narrow), wide);
  }
}

TEST(Utf16, RefusesWhatHasNoOtherSpelling) {
  for (const auto* text : {"\xff", "\xc3", "\xed\xa0\x80", "\xf5\x80\x80\x80"}) EXPECT_FALSE(to_utf16(text));
  EXPECT_FALSE(to_utf8(std::u16string{0xD800}));
  EXPECT_FALSE(to_utf8(std::u16string{0xDC00, 0xD800}));
  EXPECT_FALSE(to_utf8(std::u16string{0xD800, u'a'}));
}

}  // namespace
}  // namespace harn::base

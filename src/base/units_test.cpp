// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <gtest/gtest.h>

namespace harn::base {
namespace {

using std::chrono::milliseconds;

std::string told(const Error& error) { return error.message + " | " + error.hint; }

TEST(Units, ReadsSizesAsPowersOf1024) {
  const std::pair<std::string_view, std::uint64_t> cases[] = {
      {"0", 0},
      {"1", 1},
      {"4096", 4096},
      {"100b", 100},
      {"100B", 100},
      {"1K", 1024},
      {"1k", 1024},
      {"1KiB", 1024},
      {"512M", 536870912},
      {"10MiB", 10485760},
      {"10mib", 10485760},
      {"2g", 2147483648},
      {"3GiB", 3221225472},
      {"1T", 1099511627776},
      {"2TiB", 2199023255552},
      {"18446744073709551615", 18446744073709551615U},
      {"16777215T", 16777215U * (1ULL << 40)},
  };
  for (const auto& [text, bytes] : cases) {
    const auto parsed = parse_size(text);
    ASSERT_TRUE(parsed) << text << ": " << describe(parsed.error());
    EXPECT_EQ(*parsed, bytes) << text;
  }
}

TEST(Units, RefusesWhatIsNotExactlyASize) {
  const std::string hint = " | write bytes, or a whole number with K, M, G or T (powers of 1024), such as 512M";
  for (const std::string text : {"", "M", "-1", "+1", "1.5M", "10 M", " 10M", "10M ", "10MB", "10x", "0x10", "1e3", "1_000"}) {
    const auto parsed = parse_size(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(told(parsed.error()), "'" + text + "' is not a size" + hint);
  }
  for (const std::string text : {"18446744073709551616", "16777216T", "99999999999999999999999M"}) {
    const auto parsed = parse_size(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(told(parsed.error()), "the size '" + text + "' is too large" + hint);
  }
}

TEST(Units, PrintsTheShortestExactSize) {
  const std::pair<std::uint64_t, std::string_view> cases[] = {
      {0, "0"},
      {1, "1"},
      {1023, "1023"},
      {1024, "1K"},
      {1536, "1536"},
      {2048, "2K"},
      {536870912, "512M"},
      {1610612736, "1536M"},
      {1ULL << 40, "1T"},
      {1ULL << 50, "1024T"},
      {18446744073709551615U, "18446744073709551615"},
  };
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(size_text(bytes), text);
    EXPECT_EQ(parse_size(text).value_or(7), bytes);
  }
}

TEST(Units, ReadsDurations) {
  const std::pair<std::string_view, std::int64_t> cases[] = {
      {"0", 0},
      {"30", 30'000},
      {"1.5", 1500},
      {"0.001", 1},
      {"500ms", 500},
      {"30s", 30'000},
      {"1.25s", 1250},
      {"2m", 120'000},
      {"0.5m", 30'000},
      {"1h", 3'600'000},
      {"1.5h", 5'400'000},
      {"1.000s", 1000},
      {"999999999999ms", 999'999'999'999},
      {"999999999999h", 999'999'999'999 * 3'600'000},
  };
  for (const auto& [text, count] : cases) {
    const auto parsed = parse_duration(text);
    ASSERT_TRUE(parsed) << text << ": " << describe(parsed.error());
    EXPECT_EQ(*parsed, milliseconds(count)) << text;
  }
}

TEST(Units, RefusesWhatIsNotExactlyADuration) {
  const std::string hint = " | write seconds, or a number with ms, s, m or h such as 30s";
  for (const std::string text : {"", "s", "-5s", "+5s", "5 s", "5S", "5sec", "1.", ".5s", "1.s", "1d", "1h30m", "inf", "nan", "1e3"}) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(told(parsed.error()), "'" + text + "' is not a duration" + hint);
  }
  for (const std::string text : {"0.0001", "0.5ms", "1.0001s"})
    EXPECT_EQ(told(parse_duration(text).error()), "the duration '" + text + "' is finer than a millisecond" + hint);
  for (const std::string text : {"1000000000000", "1.000000000000"})
    EXPECT_EQ(told(parse_duration(text).error()), "the duration '" + text + "' has too many digits" + hint);
}

TEST(Units, PrintsDurationsInTheLargestWholeUnit) {
  const std::pair<std::int64_t, std::string_view> cases[] = {
      {0, "0s"}, {1, "1ms"}, {1500, "1500ms"}, {30'000, "30s"}, {90'000, "90s"}, {120'000, "2m"}, {3'600'000, "1h"}, {5'400'000, "90m"},
  };
  for (const auto& [count, text] : cases) {
    EXPECT_EQ(duration_text(milliseconds(count)), text);
    EXPECT_EQ(parse_duration(text).value_or(milliseconds(7)), milliseconds(count));
  }
}

}  // namespace
}  // namespace harn::base

// SPDX-License-Identifier: Apache-2.0
#include "workspace/line_diff.h"

#include <gtest/gtest.h>

#include <random>

namespace harn::workspace {
namespace {

TEST(LineDiff, EqualTextsHaveNone) {
  EXPECT_EQ(unified_diff("", ""), "");
  EXPECT_EQ(unified_diff("a\nb\n", "a\nb\n"), "");
}

TEST(LineDiff, TellsWhatDiffTells) {
  EXPECT_EQ(unified_diff("a\nb\nc\n", "a\nx\nc\n"), "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
  EXPECT_EQ(unified_diff("", "a\n"), "@@ -0,0 +1 @@\n+a\n");
  EXPECT_EQ(unified_diff("a\n", ""), "@@ -1 +0,0 @@\n-a\n");
  EXPECT_EQ(unified_diff("a", "a\n"), "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
}

TEST(LineDiff, DistantChangesHaveHunksOfTheirOwn) {
  std::string before;
  for (int i = 0; i < 30; ++i) before += std::to_string(i) + "\n";
  auto after = before;
  after.replace(after.find("2\n"), 2, "two\n");
  after.replace(after.find("27\n"), 3, "");
  EXPECT_EQ(unified_diff(before, after),
            "@@ -1,6 +1,6 @@\n 0\n 1\n-2\n+two\n 3\n 4\n 5\n@@ -25,6 +25,5 @@\n 24\n 25\n 26\n-27\n 28\n 29\n");
}

// Applied by hand: what a reader of the diff would get.
std::string patched(std::string_view before, std::string_view diff) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < before.size();) {
    const auto end = before.find('\n', at) + 1;
    lines.emplace_back(before.substr(at, end - at));
    at = end;
  }
  std::string out;
  std::size_t next = 0;
  for (std::size_t at = 0; at < diff.size();) {
    const auto end = diff.find('\n', at) + 1;
    const auto line = diff.substr(at, end - at);
    at = end;
    if (line.starts_with("@@ -")) {
      auto first = std::stoul(std::string(line.substr(4)));
      const auto comma = line.find(',');
      const bool none = comma < line.find(' ', 4) && line.substr(comma + 1, 2) == "0 ";
      if (first > 0 && !none) --first;
      while (next < first) out += lines[next++];
    } else if (line[0] == '+') {
      out += line.substr(1);
    } else {
      EXPECT_EQ(lines[next], line.substr(1));
      if (line[0] == ' ') out += lines[next];
      ++next;
    }
  }
  while (next < lines.size()) out += lines[next++];
  return out;
}

TEST(LineDiff, AReaderGetsTheNewText) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::string before;
    std::string after;
    for (int i = 0, count = static_cast<int>(random() % 30); i < count; ++i) {
      const auto line = std::string(1, static_cast<char>('a' + random() % 5)) + "\n";
      const auto what = random() % 6;
      if (what != 0) before += line;
      if (what != 1) after += what == 2 ? "new\n" : line;
    }
    EXPECT_EQ(patched(before, unified_diff(before, after)), after) << before << "---\n" << after;
  }
}

}  // namespace
}  // namespace harn::workspace

// SPDX-License-Identifier: Apache-2.0
#include "base/glob.h"

#include <chrono>
#include <random>

#include <gtest/gtest.h>

#include "base/text.h"

namespace harn::base {
namespace {

Glob compiled(std::string_view text) {
  auto glob = Glob::compile(text);
  EXPECT_TRUE(glob) << text << ": " << (glob ? "" : describe(glob.error()));
  return glob ? std::move(*glob) : Glob{};
}

TEST(Glob, MatchesWhatItsWordsSay) {
  struct Case {
    std::string_view glob = {};
    std::vector<std::string_view> yes = {};
    std::vector<std::string_view> no = {};
  };
  const std::vector<Case> cases = {
      {"**", {"", "a", "a/b/.c"}, {"/a"}},
      {"/**", {"/", "/a", "/a/b"}, {"a"}},
      {"*", {"a", ".hidden"}, {"", "a/b"}},
      {"src/**", {"src", "src/a", "src/a/b"}, {"srcs", "a/src"}},
      {"src/**/*.c", {"src/a.c", "src/x/y/a.c"}, {"src/a.h", "a.c", "src"}},
      {"**/test", {"test", "a/b/test"}, {"test/a", "atest"}},
      {"a/**/**/b", {"a/b", "a/x/b"}, {"ab"}},
      {"**/a/**/b", {"a/b", "x/a/a/y/b", "a/b/b"}, {"b/a", "a"}},
      {"a?c",
       {"abc", "aéc",
        "a\xff"
        "c"},
       {"ac", "a/c", "abbc"}},
      {"[a-c]x", {"ax", "cx"}, {"dx", "x", "/x"}},
      {"[!a-c]x", {"dx", "éx"}, {"ax"}},
      {"[^a]", {"b"}, {"a"}},
      {"[]a]", {"]", "a"}, {"b"}},
      {"[a-]", {"a", "-"}, {"b"}},
      {"[\\]\\-]", {"]", "-"}, {"\\"}},
      {"[ä-ü]", {"ö"}, {"o"}},
      {"\\*\\{a\\}", {"*{a}"}, {"x{a}"}},
      {"{src,test}/*.c", {"src/a.c", "test/a.c"}, {"docs/a.c"}},
      {"{a/b,c}/{d,e{f,g}}", {"a/b/d", "c/ef", "c/eg"}, {"a/d", "c/e"}},
      {"a{,.bak}", {"a", "a.bak"}, {"abak"}},
      {"a,b", {"a,b"}, {"a"}},
      {"./a//b/", {"a/b"}, {"a"}},
      {".", {""}, {"a"}},
      {"/", {"/"}, {"", "/a"}},
      {"/home/*/x", {"/home/me/x"}, {"home/me/x", "/home/x"}},
      {"a*b*c", {"abc", "axxbyyc", "abcbc"}, {"ab", "acb"}},
  };
  for (const auto& [text, yes, no] : cases) {
    const Glob glob = compiled(text);
    for (const auto path : yes) EXPECT_TRUE(glob.matches(path)) << text << " " << path;
    for (const auto path : no) EXPECT_FALSE(glob.matches(path)) << text << " " << path;
  }
}

TEST(Glob, SplitsIntoLongestLiteralPrefixAndRemainder) {
  struct Case {
    std::string_view glob = {};
    std::vector<GlobPrefix> expected = {};
  };
  const std::vector<Case> cases = {
      {"**", {{"", "**"}}},
      {"/**", {{"/", "**"}}},
      {"src/**", {{"src", "**"}}},
      {"src/lib/*.c", {{"src/lib", "*.c"}}},
      {"/etc/hosts", {{"/etc/hosts", ""}}},
      {"{src,test}/**", {{"src", "**"}, {"test", "**"}}},
      {"{/a,b}/{c,c}", {{"/a/c", ""}, {"b/c", ""}}},
      {"a\\*b/[c]", {{"a*b", "[c]"}}},
      {"a/b\\*?/d", {{"a", "b\\*?/d"}}},
  };
  for (const auto& [glob, expected] : cases) EXPECT_EQ(compiled(glob).prefixes(), expected) << glob;
}

TEST(Glob, RefusesWhatMeansNothingWithThePosition) {
  struct Case {
    std::string glob = {};
    std::string problem = {};
    std::string hint = {};
  };
  const std::string escapes = "'\\' only escapes *?[]{},!^- and itself; separate with '/'";
  const std::string long_glob(1025, 'a');
  const std::vector<Case> cases = {
      {"", "'' is empty", "write '**' for everything, or leave the list empty for nothing"},
      {long_glob, base::quoted(long_glob) + " has 1025 bytes", "a glob has at most 1024 bytes"},
      {"a\xff", "'a\\xff' is not valid UTF-8", "save the file as UTF-8"},
      {std::string("a\0b", 3), "'a\\x00b' contains a NUL byte", "remove it"},
      {"a/b**", "'a/b**' has a '**' beside other text at character 4", "'**' stands alone between slashes; inside a name write '*'"},
      {"a/{b,**}c", "'a/{b,**}c' has a '**' beside other text at character 6",
       "'**' stands alone between slashes; inside a name write '*'"},
      {"é/***", "'é/***' has 3 stars in a row at character 3", "write '*' or '**'"},
      {"a[bc", "'a[bc' has an unclosed '[' at character 2", "close it with ']' or write '\\['"},
      {"a[]", "'a[]' has an unclosed '[' at character 2", "close it with ']' or write '\\['"},
      {"[a-", "'[a-' has an unclosed '[' at character 1", "close it with ']' or write '\\['"},
      {"[z-a]", "'[z-a]' has a range that runs backwards at character 2", "write the smaller character first"},
      {"[a/b]", "'[a/b]' has a '/' inside '[…]' at character 3", "a set stands for one character of a name"},
      {"[\\q]", "'[\\\\q]' has a '\\' before an ordinary character at character 2", escapes},
      {"C:\\Users", "'C:\\\\Users' has a '\\' before an ordinary character at character 3", escapes},
      {"a\\", "'a\\\\' has a '\\' before an ordinary character at character 2", escapes},
      {"{a,b", "'{a,b' has an unclosed '{' at character 1", "close it with '}' or write '\\{'"},
      {"a}", "'a}' has a '}' without '{' at character 2", "write '\\}' for a literal brace"},
      {"a{}", "'a{}' has empty braces at character 2", "name alternatives, or write '\\{\\}'"},
      {"{,a}", "'{,a}' has a branch that is empty", "write '.' for the directory itself"},
      {"a/../b", "'a/../b' has a '..' at character 3", "write the path it leads to"},
      {std::string(17, '{'), base::quoted(std::string(17, '{')) + " nests braces too deeply at character 17",
       "write several globs instead"},
      {"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "'{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}' stands for more than 256 paths",
       "write several globs with fewer braces"},
  };
  for (const auto& [text, problem, hint] : cases) {
    const auto glob = Glob::compile(text);
    ASSERT_FALSE(glob) << text;
    EXPECT_EQ(glob.error(),
              (Error{.code = ErrorCode::invalid_policy, .stage = Stage::parse, .message = "the glob " + problem, .hint = hint}));
  }
}

TEST(Glob, EscapedPathMatchesExactlyItself) {
  const std::string path = "/odd/[a]{b,c}*?\\/d";
  const Glob glob = compiled(glob_escape(path));
  EXPECT_TRUE(glob.matches(path));
  EXPECT_EQ(glob.prefixes(), (std::vector<GlobPrefix>{{path, ""}}));
}

TEST(Glob, CostStaysBoundedOnHostilePatterns) {
  std::string stars;
  std::string deep;
  for (int i = 0; i < 200; ++i) stars += "*a";
  for (int i = 0; i < 150; ++i) deep += "**/a/";
  const std::string name(4000, 'a');
  std::string path;
  for (int i = 0; i < 2000; ++i) path += "a/";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(compiled(stars + "b").matches(name));
  EXPECT_FALSE(compiled(deep + "b").matches(path));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

// ---- against a naive matcher -------------------------------------------------------------------

using Words = std::vector<std::string>;

// Written from the description alone; exponential, which small inputs do not mind. ASCII only.
bool naive_name(std::string_view glob, std::string_view name) {
  if (glob.empty()) return name.empty();
  if (glob[0] == '*') {
    for (std::size_t skip = 0; skip <= name.size(); ++skip)
      if (naive_name(glob.substr(1), name.substr(skip))) return true;
    return false;
  }
  if (name.empty()) return false;
  if (glob.starts_with("[ab]")) return (name[0] == 'a' || name[0] == 'b') && naive_name(glob.substr(4), name.substr(1));
  if (glob.starts_with("[!a]")) return name[0] != 'a' && naive_name(glob.substr(4), name.substr(1));
  return (glob[0] == '?' || glob[0] == name[0]) && naive_name(glob.substr(1), name.substr(1));
}

bool naive_path(const Words& glob, const Words& path, std::size_t g = 0, std::size_t p = 0) {
  if (g == glob.size()) return p == path.size();
  if (glob[g] == "**") {
    for (std::size_t skip = p; skip <= path.size(); ++skip)
      if (naive_path(glob, path, g + 1, skip)) return true;
    return false;
  }
  return p < path.size() && naive_name(glob[g], path[p]) && naive_path(glob, path, g + 1, p + 1);
}

Words words_of(std::string_view text) {
  Words words;
  for (const auto part : split(text, '/'))
    if (!part.empty()) words.emplace_back(part);
  return words;
}

// Expands the first innermost {x,y}; the generator never nests.
Words naive_expand(const std::string& glob) {
  const auto open = glob.find('{');
  if (open == std::string::npos) return {glob};
  const auto close = glob.find('}', open);
  Words all;
  for (const auto choice : split(std::string_view(glob).substr(open + 1, close - open - 1), ','))
    for (std::string& rest : naive_expand(glob.substr(0, open) + std::string(choice) + glob.substr(close + 1)))
      all.push_back(std::move(rest));
  return all;
}

TEST(Glob, AgreesWithANaiveMatcherOnRandomInput) {
  std::mt19937 random(7);
  const auto pick = [&](std::size_t below) { return std::uniform_int_distribution<std::size_t>(0, below - 1)(random); };
  const Words pieces{"a", "b", "c", "*", "?", "[ab]", "[!a]", "{a,b}", "{a/b,c*}", "/", "/**/", "**/", "/"};
  const Words letters{"a", "b", "c", "/"};
  int agreed = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = pick(3) == 0 ? "/" : "";
    for (std::size_t i = pick(7) + 1; i > 0; --i) text += pieces[pick(pieces.size())];
    std::string path = text.starts_with('/') ? "/" : "";
    for (std::size_t i = pick(8); i > 0; --i) path += letters[pick(letters.size())];
    if (path.starts_with('/') != text.starts_with('/')) continue;
    const auto glob = Glob::compile(text);
    if (!glob) continue;
    bool expected = false;
    for (const std::string& branch : naive_expand(text)) expected = expected || naive_path(words_of(branch), words_of(path));
    ASSERT_EQ(glob->matches(path), expected) << text << " on " << path;
    agreed += expected ? 1 : 0;
  }
  EXPECT_GT(agreed, 1000) << "the generator no longer reaches matching pairs";
}

}  // namespace
}  // namespace harn::base

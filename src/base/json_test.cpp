// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace harn::base {
namespace {

Value parsed(std::string_view text) {
  auto value = parse_json(text, "f.json");
  EXPECT_TRUE(value) << text << ": " << describe(value.error());
  return value ? std::move(*value) : Value("unparsed");
}

std::string refusal(std::string_view text) {
  const auto value = parse_json(text, "f.json");
  return value ? "accepted" : describe(value.error());
}

Value object(std::initializer_list<std::pair<const char*, Value>> members) {
  Value out = Object{};
  for (const auto& [name, value] : members) out.set(name, value);
  return out;
}

TEST(Json, ReadsEveryKind) {
  const std::pair<std::string_view, Value> cases[] = {
      {"null", Value()},
      {"true", true},
      {" false ", false},
      {"0", 0},
      {"-0", 0},
      {"-7", -7},
      {"9223372036854775807", std::int64_t{9223372036854775807}},
      {"-9223372036854775808", std::numeric_limits<std::int64_t>::min()},
      {"1.5", 1.5},
      {"1.0", 1.0},
      {"1e2", 100.0},
      {R"("a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é")", "a\"\\/\b\f\n\r\té😀é"},
      {"[]", Array{}},
      {"{}", Object{}},
      {"[1, [2], {\"a\": 3}]", Array{1, Array{2}, object({{"a", 3}})}},
      {R"({"b": 1, "a": [null]})", object({{"b", 1}, {"a", Array{nullptr}}})},
  };
  for (const auto& [text, value] : cases) EXPECT_EQ(parsed(text), value) << text;
}

TEST(Json, RemembersWhereEveryValueStood) {
  const Value root = parsed("\n {\"ä\": [10, \"x\",\n   true],\"b\":{\n\"c\"  :  -2.5 , \"d\":null}}\n");
  EXPECT_EQ(root.mark, (Mark{2, 2}));
  EXPECT_EQ(root.object()[0].mark, (Mark{2, 3}));
  const Value& list = *root.find("ä");
  EXPECT_EQ(list.mark, (Mark{2, 8}));
  EXPECT_EQ(list.array()[0].mark, (Mark{2, 9}));
  EXPECT_EQ(list.array()[1].mark, (Mark{2, 13}));
  EXPECT_EQ(list.array()[2].mark, (Mark{3, 4}));
  EXPECT_EQ(root.object()[1].mark, (Mark{3, 10}));
  EXPECT_EQ(root.find("b")->mark, (Mark{3, 14}));
  EXPECT_EQ(root.find("b")->find("c")->mark, (Mark{4, 9}));
  EXPECT_EQ(root.find("b")->object()[1].mark, (Mark{4, 16}));
  EXPECT_EQ(root.find("b")->find("d")->mark, (Mark{4, 20}));
}

TEST(Json, FindsPlacesAfterEmptyContainersAndInLongLines) {
  const Value root = parsed("[[],{},[1],{\"a\":[]},2]");
  EXPECT_EQ(root.array()[1].mark, (Mark{1, 5}));
  EXPECT_EQ(root.array()[2].mark, (Mark{1, 8}));
  EXPECT_EQ(root.array()[3].mark, (Mark{1, 12}));
  EXPECT_EQ(root.array()[4].mark, (Mark{1, 21}));

  std::string line = "[0";
  for (int i = 1; i < 200'000; ++i) line += ",0";
  const Value wide = parsed(line + "]");  // quadratic place keeping would not finish
  EXPECT_EQ(wide.array().back().mark, (Mark{1, 2 * 199'999 + 2}));
}

TEST(Json, RefusesWithThePlace) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "f.json:1:1: the JSON text ends too early (close every string, list and object)"},
      {"  ", "f.json:1:3: the JSON text ends too early (close every string, list and object)"},
      {"{\"a\": [1, 2", "f.json:1:12: the JSON text ends too early (close every string, list and object)"},
      {"\"abc", "f.json:1:5: the JSON text ends too early (close every string, list and object)"},
      {"[1,]", "f.json:1:4: this is not JSON: unexpected ']'"},
      {"{\"a\" 1}", "f.json:1:6: this is not JSON: unexpected '1'"},
      {"{a: 1}", "f.json:1:2: this is not JSON: unexpected 'a'"},
      {"[\n  // no\n]", "f.json:2:3: this is not JSON: unexpected '/'"},
      {"nul", "f.json:1:4: the JSON text ends too early (close every string, list and object)"},
      {"[NaN]", "f.json:1:2: this is not JSON: unexpected 'N'"},
      {"[1 2]", "f.json:1:4: this is not JSON: unexpected '2'"},
      {"[01]", "f.json:1:3: this is not JSON: unexpected '1'"},
      {"{} x", "f.json:1:4: more text follows the end of the JSON value (remove it)"},
      {"1 2", "f.json:1:3: more text follows the end of the JSON value (remove it)"},
      {"{\"a\":1,\n \"b\":2, \"a\":3}", "f.json:2:9: the member 'a' appears twice (keep one of them)"},
      {"{\"x\":{\"y\":0,\"y\":0}}", "f.json:1:13: the member 'y' appears twice (keep one of them)"},
      {"[9223372036854775808]", "f.json:1:2: the integer '9223372036854775808' does not fit in 64 bits (write a smaller number)"},
      {"-9223372036854775809", "f.json:1:1: the integer '-9223372036854775809' does not fit in 64 bits (write a smaller number)"},
      {"99999999999999999999999", "f.json:1:1: the integer '99999999999999999999999' does not fit in 64 bits (write a smaller number)"},
      {"\xEF\xBB\xBF{}", "f.json:1:1: the text starts with a byte order mark (save the file as plain UTF-8)"},
      {"{\"a\": \"\xC3\x28\"}", "f.json:1:9: the text is not valid UTF-8 (save the file as UTF-8)"},
      {"\"\xFF\"", "f.json:1:2: the text is not valid UTF-8 (save the file as UTF-8)"},
      {"[é]", "f.json:1:2: this is not JSON: unexpected 'é'"},
      {std::string("[\0]", 3), "f.json:1:2: this is not JSON: unexpected '\\x00'"},
      {std::string(65, '[') + std::string(65, ']'), "f.json:1:65: the JSON text is nested deeper than 64 levels (flatten it)"},
      {std::string(1'000'000, '['), "f.json:1:65: the JSON text is nested deeper than 64 levels (flatten it)"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(refusal(text), error) << text.substr(0, 60);
  EXPECT_EQ(parse_json("[").error().where, "1:2");
}

TEST(Json, AcceptsTheDeepestAllowedNesting) { EXPECT_EQ(refusal(std::string(64, '[') + std::string(64, ']')), "accepted"); }

TEST(Json, FindsARepeatAmongManyMembers) {
  std::string text = "{\"m7\":0";
  for (int i = 0; i < 50'000; ++i) text += ",\"k" + std::to_string(i) + "\":0";
  EXPECT_EQ(refusal(text + "}"), "accepted");
  EXPECT_EQ(refusal(text + ",\n\"m7\":0}"), "f.json:2:1: the member 'm7' appears twice (keep one of them)");
}

TEST(Json, PrintsOneLineIndentedAndCanonical) {
  const Value value =
      object({{"b", Array{1, 2.5, true, nullptr, 3.0}}, {"a", object({{"é\x7F", "q\"\\\n\x01😀"}})}, {"c", Array{}}, {"d", Object{}}});
  EXPECT_EQ(print_json(value), "{\"b\": [1, 2.5, true, null, 3.0], \"a\": {\"é\x7F\": \"q\\\"\\\\\\n\\u0001😀\"}, \"c\": [], \"d\": {}}");
  EXPECT_EQ(
      print_json(value, 2),
      "{\n  \"b\": [\n    1,\n    2.5,\n    true,\n    null,\n    3.0\n  ],\n  \"a\": {\n    \"é\x7F\": \"q\\\"\\\\\\n\\u0001😀\"\n  },\n"
      "  \"c\": [],\n  \"d\": {}\n}");
  EXPECT_EQ(canonical_json(value),
            "{\"a\":{\"\\u00e9\\u007f\":\"q\\\"\\\\\\n\\u0001\\ud83d\\ude00\"},\"b\":[1,2.5,true,null,3.0],\"c\":[],\"d\":{}}");
}

TEST(Json, KeepsBytesThatAreNotUtf8ApartAndUnreadable) {
  EXPECT_EQ(print_json(Value("a\xFFz")), "\"a\\udcffz\"");
  EXPECT_NE(canonical_json(Value("\xC3")), canonical_json(Value("\xC4")));
  EXPECT_EQ(print_json(Value("\xF0\x9F")), "\"\\udcf0\\udc9f\"");
  EXPECT_FALSE(parse_json(print_json(Value("\xFF"))));
}

TEST(Json, PrintsNumbersThatHaveNoJsonAsNull) {
  EXPECT_EQ(print_json(Value(std::nan(""))), "null");
  EXPECT_EQ(print_json(Value(HUGE_VAL)), "null");
}

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  Value value(int depth) {
    switch (pick(depth == 0 ? 5 : 7)) {
      case 0: return {};
      case 1: return pick(2) == 0;
      case 2: return static_cast<std::int64_t>((std::uint64_t{random_()} << 32) | random_());
      case 3: return std::ldexp(static_cast<double>(random_()), static_cast<int>(pick(200)) - 100);
      case 4: return text();
      case 5: return list(depth);
      default: return table(depth);
    }
  }

 private:
  std::size_t pick(std::size_t count) { return random_() % count; }
  std::string text() {
    static constexpr std::array<std::string_view, 8> parts{"a", "\"", "\\", "\n", "é", "😀", "\x01", "/"};
    std::string out;
    for (auto i = pick(6); i > 0; --i) out += parts[pick(parts.size())];
    return out;
  }
  Value list(int depth) {
    Array out;
    for (auto i = pick(4); i > 0; --i) out.push_back(value(depth - 1));
    return out;
  }
  Value table(int depth) {
    Value out = Object{};
    const auto count = pick(4);
    for (std::size_t i = 0; i < count; ++i) out.set(text() + std::to_string(i), value(depth - 1));
    return out;
  }

  std::mt19937 random_;
};

TEST(Json, PrintsTheSamePieceByPiece) {
  Value value = object({{"plain", std::string(200'000, 'x')}, {"bytes", std::string(50'000, '\0')}, {"list", Array{1, "two", Object{}}}});
  value.set("text", std::string(150'000, '"') + "end\xc3\xa4");
  std::string whole;
  std::size_t longest = 0;
  print_json(value, 2, [&](std::string_view piece) {
    whole += piece;
    longest = std::max(longest, piece.size());
  });
  EXPECT_EQ(whole, print_json(value, 2));
  EXPECT_LT(longest, 200'000u);
}

TEST(Json, ReadsBackWhateverItPrints) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    const Value value = Generator(seed).value(4);
    EXPECT_EQ(parsed(print_json(value)), value) << seed;
    EXPECT_EQ(parsed(print_json(value, 3)), value) << seed;
    EXPECT_EQ(canonical_json(parsed(canonical_json(value))), canonical_json(value)) << seed;
  }
}

TEST(Value, NamesKindsAndFindsMembers) {
  const std::pair<Value, std::string_view> cases[] = {
      {Value(), "null"}, {true, "true or false"}, {1, "an integer"},     {1.5, "a number"},
      {"x", "a string"}, {Array{}, "a list"},     {Object{}, "a table"},
  };
  for (const auto& [value, name] : cases) EXPECT_EQ(kind_name(value.kind()), name);
  const Value value = object({{"a", 1}});
  EXPECT_EQ(*value.find("a"), Value(1));
  EXPECT_EQ(value.find("b"), nullptr);
  EXPECT_EQ(Value(1).find("a"), nullptr);
}

}  // namespace
}  // namespace harn::base

// SPDX-License-Identifier: Apache-2.0
#include "cli/args.h"

#include <gtest/gtest.h>

namespace harn::cli {
namespace {

constexpr Option options[] = {
    {.name = "memory", .value = "SIZE", .help = "how much"},
    {.name = "read", .value = "PATH", .help = "readable", .repeatable = true, .letter = 'r'},
    {.name = "net", .value = "MODE", .help = "network", .choices = "none|restricted|allowed"},
    {.name = "json", .help = "as JSON", .letter = 'j'},
};
constexpr OptionGroup groups[] = {{"Options", options}};
constexpr Verb file_verb{.name = "show", .operands = "FILE", .groups = groups, .min_operands = 1, .max_operands = 1};
constexpr Verb command_verb{.name = "run", .operands = "CMD", .groups = groups, .min_operands = 1, .takes_command = true};

using Words = std::vector<std::string>;

TEST(Arguments, ValuesComeAttachedOrAfterwards) {
  for (const auto& words : {Words{"--memory", "1M", "f"}, Words{"--memory=1M", "f"}, Words{"f", "--memory=1M"}}) {
    const auto got = parse_arguments(file_verb, words);
    ASSERT_TRUE(got) << describe(got.error());
    ASSERT_NE(got->value("memory"), nullptr);
    EXPECT_EQ(*got->value("memory"), "1M");
    EXPECT_EQ(got->operands(), Words{"f"});
  }
  EXPECT_EQ(*parse_arguments(file_verb, Words{"--memory=", "f"})->value("memory"), "");
  EXPECT_EQ(*parse_arguments(file_verb, Words{"--memory=a=b", "f"})->value("memory"), "a=b");
  EXPECT_EQ(*parse_arguments(file_verb, Words{"--memory", "-1", "f"})->value("memory"), "-1");
}

TEST(Arguments, RepeatedValuesKeepTheirOrder) {
  const auto got = parse_arguments(file_verb, Words{"--read", "b", "-r", "a", "-j", "--json", "f"});
  ASSERT_TRUE(got);
  EXPECT_EQ(got->all("read"), (Words{"b", "a"}));
  EXPECT_EQ(got->all("memory"), Words{});
  EXPECT_TRUE(got->has("json"));
  EXPECT_FALSE(got->has("net"));
  EXPECT_EQ(got->value("json"), nullptr);
}

TEST(Arguments, ACommandKeepsItsOwnOptions) {
  for (const auto& words : {Words{"--json", "ls", "-la", "--", "--json=1"}, Words{"--json", "--", "ls", "-la", "--", "--json=1"}}) {
    const auto got = parse_arguments(command_verb, words);
    ASSERT_TRUE(got) << describe(got.error());
    EXPECT_EQ(got->operands(), (Words{"ls", "-la", "--", "--json=1"}));
  }
  EXPECT_EQ(parse_arguments(file_verb, Words{"--", "--json"})->operands(), Words{"--json"});
  EXPECT_EQ(parse_arguments(file_verb, Words{"-"})->operands(), Words{"-"});
}

TEST(Arguments, HelpWinsOverWhatIsMissing) {
  for (const auto* word : {"--help", "-h"})
    EXPECT_TRUE(parse_arguments(file_verb, Words{"--json", word, "--nonsense"})->has("help")) << word;
  EXPECT_FALSE(parse_arguments(command_verb, Words{"ls", "--help"})->has("help"));
}

TEST(Arguments, MistakesAreOneSentenceAndOneHint) {
  struct Case {
    Words words;
    std::string_view said;
  };
  const Case cases[] = {
      {{"--memry", "1", "f"}, "unknown option '--memry' for 'harn show' (did you mean '--memory'?)"},
      {{"--memry=1", "f"}, "unknown option '--memry' for 'harn show' (did you mean '--memory'?)"},
      {{"--zzzzzz", "f"}, "unknown option '--zzzzzz' for 'harn show' (see 'harn help show')"},
      {{"---", "f"}, "unknown option '---' for 'harn show' (see 'harn help show')"},
      {{"-x", "f"}, "unknown option '-x' for 'harn show' (see 'harn help show')"},
      {{"-json", "f"}, "unknown option '-json' for 'harn show' (did you mean '--json'?)"},
      {{"f", "--memory"}, "option '--memory' needs a value (write --memory=SIZE)"},
      {{"--memory", "--json", "f"}, "option '--memory' needs a value (write --memory=SIZE)"},
      {{"--json=yes", "f"}, "option '--json' takes no value (write '--json' alone)"},
      {{"--memory=1", "--memory=2", "f"}, "option '--memory' was given twice (give it once)"},
      {{"--net", "alowed", "f"}, "'alowed' is not a value of '--net' (did you mean 'allowed'?)"},
      {{"--net", "x", "f"}, "'x' is not a value of '--net' (use one of none, restricted, allowed)"},
      {{}, "'harn show' needs FILE (see 'harn help show')"},
      {{"a", "b"}, "'b' is one argument too many for 'harn show' (see 'harn help show')"},
  };
  for (const auto& c : cases) {
    const auto got = parse_arguments(file_verb, c.words);
    ASSERT_FALSE(got) << c.said;
    EXPECT_EQ(describe(got.error()), c.said);
    EXPECT_EQ(got.error().code, ErrorCode::invalid_command);
  }
}

}  // namespace
}  // namespace harn::cli

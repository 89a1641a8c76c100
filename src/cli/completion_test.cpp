// SPDX-License-Identifier: Apache-2.0
// Everything made from the table of verbs names everything in it.
#include "cli/completion.h"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/help.h"
#include "cli/verbs.h"

namespace harn::cli {
namespace {

template <class Check>
void each_option(Check check) {
  for (const auto& verb : verbs())
    for (const auto& group : verb.groups)
      for (const auto& option : group.options) check(verb, option);
}

std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

TEST(Help, FitsAScreenAndNamesEveryOption) {
  for (const auto& verb : verbs()) {
    const auto text = help_of(verb);
    const auto lines = base::split(text, '\n');
    const bool shapes_a_boundary = verb.takes_command || verb.runs_command || verb.name == "session create";
    EXPECT_LE(lines.size() - 1, shapes_a_boundary ? 52u : 24u) << verb.name;
    for (const auto line : lines) EXPECT_LE(columns(line), 80u) << line;
    EXPECT_TRUE(text.starts_with("Usage: harn " + std::string(verb.name))) << text;
  }
  each_option([](const Verb& verb, const Option& option) {
    EXPECT_NE(help_of(verb).find("--" + std::string(option.name)), std::string::npos) << verb.name << " " << option.name;
  });
  for (const auto line : base::split(overview(), '\n')) EXPECT_LE(columns(line), 80u) << line;
  EXPECT_LE(base::split(overview(), '\n').size(), 30u);
  for (const auto& verb : verbs()) {
    const std::string name(verb.name);
    const auto family = name.substr(0, name.find(' '));
    EXPECT_NE(overview().find("\n  " + family + " "), std::string::npos) << name;
    EXPECT_NE(overview(family == name ? "" : family).find("\n  " + name + " "), std::string::npos) << name;
  }
  EXPECT_EQ(overview("policy").find("completion"), std::string::npos);
}

TEST(VerbTable, NamesAreUniqueAndChoicesComplete) {
  for (const auto& verb : verbs()) {
    std::set<std::string_view> names = {"help"};
    std::set<char> letters = {'h'};
    for (const auto& group : verb.groups) {
      for (const auto& option : group.options) {
        EXPECT_TRUE(names.insert(option.name).second) << verb.name << " " << option.name;
        EXPECT_TRUE(option.letter == 0 || letters.insert(option.letter).second) << verb.name << " " << option.letter;
        EXPECT_EQ(option.complete == Complete::choice, !option.choices.empty()) << option.name;
        EXPECT_FALSE(option.help.empty()) << option.name;
      }
    }
    EXPECT_NE(verb.run, nullptr) << verb.name;
  }
}

TEST(Completion, EveryShellKnowsEveryOption) {
  const auto bash = bash_completion();
  const auto zsh = zsh_completion();
  const auto fish = fish_completion();
  each_option([&](const Verb& verb, const Option& option) {
    const std::string name(option.name);
    EXPECT_NE(bash.find("--" + name), std::string::npos) << name;
    EXPECT_NE(zsh.find("--" + name + (option.value.empty() ? "[" : "=[")), std::string::npos) << name;
    EXPECT_NE(fish.find("'__harn_verb " + std::string(verb.name) + "' -l " + name + " "), std::string::npos) << name;
  });
  EXPECT_NE(bash.find("_harn_offer -W 'unrestricted worktree wasi os_hardened'"), std::string::npos);
  EXPECT_NE(bash.find("_harn_offer -W 'check show intersect within lower import schema'"), std::string::npos);
  EXPECT_NE(zsh.find("'*--env=[set a variable]:NAME=VALUE: '"), std::string::npos) << zsh;
  EXPECT_NE(fish.find("complete -c harn -n '__harn_typed policy' -a check -d "), std::string::npos);
}

// The manual is written by hand; this is what keeps it whole.
TEST(Manual, NamesEveryVerbAndOption) {
  std::ifstream file(std::string(HARN_SOURCE_DIR) + "/docs/man/harn.1.md");
  std::stringstream text;
  text << file.rdbuf();
  const auto manual = text.str();
  ASSERT_FALSE(manual.empty());
  for (const auto& verb : verbs()) EXPECT_NE(manual.find("**harn " + std::string(verb.name) + "**"), std::string::npos) << verb.name;
  each_option([&](const Verb&, const Option& option) {
    const auto heading = "**--" + std::string(option.name) + "**" + (option.value.empty() ? "" : " *" + std::string(option.value) + "*");
    EXPECT_NE(manual.find(heading), std::string::npos) << heading;
  });
}

}  // namespace
}  // namespace harn::cli

// SPDX-License-Identifier: Apache-2.0
// From words to a reply: find the verb, parse by its table, run it, word its error.
#include "cli/verbs.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/help.h"
#include "cli/render.h"

namespace harn::cli {
namespace {

bool is_help(std::string_view word) { return word == "--help" || word == "-h"; }

std::vector<std::string_view> verb_names() {
  std::vector<std::string_view> names;
  for (const auto& verb : verbs()) names.push_back(verb.name);
  return names;
}

bool is_prefix(std::string_view word) {
  return std::ranges::any_of(verbs(), [&](const Verb& verb) { return verb.name.starts_with(std::string(word) + " "); });
}

Result<Reply> without_verb(std::span<const std::string> words) {
  if (words.empty()) return Reply{.exit_code = exit_usage, .err = overview()};
  if (is_help(words[0])) return Reply{.out = overview()};
  const bool prefix = is_prefix(words[0]);
  if (prefix && words.size() == 1) return Reply{.exit_code = exit_usage, .err = overview(words[0])};
  if (prefix && is_help(words[1])) return Reply{.out = overview(words[0])};
  const auto typed = prefix ? fmt::format("{} {}", words[0], words[1]) : words[0];
  const auto names = verb_names();
  const auto near = base::nearest_name(typed, names);
  return wrong_usage(fmt::format("{} is not a verb of harn", base::quoted(typed)),
                     near.empty() ? "see 'harn help'" : fmt::format("did you mean 'harn {}'?", near));
}

// Known before the words are parsed, because parsing may be what fails.
bool wants_json(const Verb* verb, std::span<const std::string> words) {
  const auto is_json = [](const Option& option) { return option.name == "json"; };
  if (verb == nullptr ||
      std::ranges::none_of(verb->groups, [&](const OptionGroup& group) { return std::ranges::any_of(group.options, is_json); }))
    return false;
  for (const auto& word : words) {
    if (word == "--json") return true;
    if (word == "--") return false;
  }
  return false;
}

Result<Reply> with_verb(const Verb& verb, std::span<const std::string> words, const Caller& caller) {
  HARN_TRY(arguments, parse_arguments(verb, words));
  if (arguments.has(help_option().name)) return Reply{.out = help_of(verb)};
  if (!caller.cwd_exists) return wrong_usage("the working directory does not exist any more", "change to one that does");
  return verb.run(arguments, caller);
}

}  // namespace

Reply answer(const Caller& caller) {
  auto words = std::span<const std::string>(caller.words);
  static const std::vector<std::string> version = {"version"};
  if (!words.empty() && words[0] == "--version") words = version;
  const auto* verb = find_verb(words);
  const auto reply = verb == nullptr ? without_verb(words) : with_verb(*verb, words.subspan(base::split(verb->name, ' ').size()), caller);
  if (reply) return *reply;
  const auto& error = reply.error();
  const int exit_code = verb != nullptr && verb->runs_command ? exit_code_instead_of_command(error) : exit_code_of(error);
  if (wants_json(verb, words)) return {.exit_code = exit_code, .out = error_json(error)};
  return {.exit_code = exit_code, .err = error_text(error)};
}

}  // namespace harn::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "cli/verbs.h"

namespace harn::cli {
namespace {

struct Word {
  std::string_view name = {};
  std::string_view summary = {};
};

// What may follow `prefix` ("" or "policy"): each first word once, in table order.
std::vector<Word> words_after(std::string_view prefix) {
  std::vector<Word> words;
  for (const auto& verb : verbs()) {
    auto name = verb.name;
    if (!prefix.empty()) {
      if (!name.starts_with(prefix) || name.size() == prefix.size() || name[prefix.size()] != ' ') continue;
      name.remove_prefix(prefix.size() + 1);
    }
    const auto cut = name.find(' ');
    const Word word{name.substr(0, cut), cut == std::string_view::npos ? verb.summary : "A group of verbs."};
    if (std::ranges::find(words, word.name, &Word::name) == words.end()) words.push_back(word);
  }
  return words;
}

// Words that are not verbs themselves but begin several: "policy".
std::vector<std::string_view> prefixes() {
  std::vector<std::string_view> out;
  for (const auto& verb : verbs()) {
    const auto cut = verb.name.find(' ');
    if (cut == std::string_view::npos) continue;
    if (const auto prefix = verb.name.substr(0, cut); std::ranges::find(out, prefix) == out.end()) out.push_back(prefix);
  }
  return out;
}

std::string names_of(const std::vector<Word>& words) {
  std::vector<std::string_view> names;
  for (const auto& word : words) names.push_back(word.name);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string spaced(std::string_view choices) {
  std::string out(choices);
  std::ranges::replace(out, '|', ' ');
  return out;
}

std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += "'\\''";
    else out += c;
  }
  return out + "'";
}

template <class Visit>
void each_option(const Verb& verb, Visit visit) {
  for (const auto& group : verb.groups)
    for (const auto& option : group.options) visit(option);
  visit(help_option());
}

// ---- bash ------------------------------------------------------------------------------------------

std::string bash_source(Complete complete, std::string_view choices) {
  switch (complete) {
    case Complete::nothing: return "";
    case Complete::file: return "-f";
    case Complete::directory: return "-d";
    case Complete::choice: return fmt::format("-W '{}'", spaced(choices));
  }
  return "";
}

std::string bash_verb(const Verb& verb) {
  std::string out = fmt::format("    '{}')\n      case $prev in\n", verb.name);
  std::string names;
  each_option(verb, [&](const Option& option) {
    names += fmt::format("{}--{}", names.empty() ? "" : " ", option.name);
    if (option.value.empty()) return;
    const auto letter = option.letter != 0 ? fmt::format("|-{}", option.letter) : "";
    out += fmt::format("        --{}{}) _harn_offer {}; return ;;\n", option.name, letter, bash_source(option.complete, option.choices));
  });
  const auto operands = verb.takes_command ? "-c -f" : bash_source(verb.complete, verb.choices);
  out += fmt::format("      esac\n      options='{}'\n      operands=({})\n      ;;\n", names, operands);
  return out;
}

// ---- zsh -------------------------------------------------------------------------------------------

std::string zsh_source(Complete complete, std::string_view choices) {
  switch (complete) {
    case Complete::nothing: return " ";
    case Complete::file: return "_files";
    case Complete::directory: return "_files -/";
    case Complete::choice: return fmt::format("({})", spaced(choices));
  }
  return " ";
}

std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_verb(const Verb& verb) {
  std::string out = fmt::format("    {})\n      _arguments -S", single_quoted(verb.name));
  each_option(verb, [&](const Option& option) {
    std::string spec = option.repeatable ? "*--" : "--";
    spec += fmt::format("{}{}[{}]", option.name, option.value.empty() ? "" : "=", zsh_text(option.help));
    if (!option.value.empty()) spec += fmt::format(":{}:{}", zsh_text(option.value), zsh_source(option.complete, option.choices));
    out += " \\\n        " + single_quoted(spec);
  });
  if (verb.takes_command) out += " \\\n        '*::command:_normal'";
  else if (verb.complete != Complete::nothing)
    out += " \\\n        " + single_quoted(fmt::format("*:{}:{}", zsh_text(verb.operands), zsh_source(verb.complete, verb.choices)));
  return out + "\n      ;;\n";
}

std::string zsh_words(std::string_view prefix) {
  std::string out = "(";
  for (const auto& word : words_after(prefix)) out += "\n      " + single_quoted(fmt::format("{}:{}", word.name, zsh_text(word.summary)));
  return out + ")";
}

// ---- fish ------------------------------------------------------------------------------------------

std::string fish_option(const Verb& verb, const Option& option) {
  std::string out = fmt::format("complete -c harn -n '__harn_verb {}' -l {}", verb.name, option.name);
  if (option.letter != 0) out += fmt::format(" -s {}", option.letter);
  if (!option.value.empty()) {
    if (option.complete == Complete::file || option.complete == Complete::directory) out += " -r -F";
    else out += option.choices.empty() ? " -x" : fmt::format(" -x -a '{}'", spaced(option.choices));
  }
  return out + fmt::format(" -d {}\n", single_quoted(option.help));
}

std::string fish_words(std::string_view prefix) {
  std::string out;
  for (const auto& word : words_after(prefix))
    out += fmt::format("complete -c harn -n '__harn_typed{}{}' -a {} -d {}\n", prefix.empty() ? "" : " ", prefix, word.name,
                       single_quoted(word.summary));
  return out;
}

}  // namespace

std::string bash_completion() {
  std::string out =
      "# bash completion for harn; load with: source <(harn completion bash)\n"
      "_harn_offer() {\n  mapfile -t COMPREPLY < <(compgen \"$@\" -- \"$cur\")\n}\n\n_harn() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} options= operands=()\n"
      "  COMPREPLY=()\n";
  out += fmt::format("  if ((COMP_CWORD == 1)); then _harn_offer -W '{}'; return; fi\n  case $verb in\n", names_of(words_after({})));
  for (const auto prefix : prefixes())
    out += fmt::format(
        "    {0})\n      if ((COMP_CWORD == 2)); then _harn_offer -W '{1}'; return; fi\n      verb=\"{0} ${{COMP_WORDS[2]}}\"\n      ;;\n",
        prefix, names_of(words_after(prefix)));
  out += "  esac\n  case $verb in\n";
  for (const auto& verb : verbs()) out += bash_verb(verb);
  return out +
         "  esac\n  if [[ $cur == -* ]]; then _harn_offer -W \"$options\"\n"
         "  elif ((${#operands[@]})); then _harn_offer \"${operands[@]}\"; fi\n}\ncomplete -o filenames -F _harn harn\n";
}

std::string zsh_completion() {
  std::string out =
      "#compdef harn\n# zsh completion for harn; put it into a directory of $fpath as _harn\n_harn() {\n"
      "  local verb=$words[2]\n  local -a offered\n  if (( CURRENT == 2 )); then\n    offered=" +
      zsh_words({}) + "\n    _describe verb offered\n    return\n  fi\n";
  for (const auto prefix : prefixes())
    out += fmt::format(
        "  if [[ $verb == {0} ]]; then\n    if (( CURRENT == 3 )); then\n    offered={1}\n    _describe verb offered\n    return\n    fi\n"
        "    verb=\"{0} $words[3]\"\n    shift words\n    (( CURRENT-- ))\n  fi\n",
        prefix, zsh_words(prefix));
  out += "  shift words\n  (( CURRENT-- ))\n  case $verb in\n";
  for (const auto& verb : verbs()) out += zsh_verb(verb);
  return out + "  esac\n}\n_harn \"$@\"\n";
}

std::string fish_completion() {
  std::string out =
      "# fish completion for harn; put it into ~/.config/fish/completions/harn.fish\n"
      "function __harn_typed\n    set -l words (commandline -opc)\n    set -e words[1]\n    test \"$words\" = \"$argv\"\nend\n"
      "function __harn_verb\n    set -l words (commandline -opc)\n    set -e words[1]\n    set -l n (count $argv)\n    test "
      "\"$words[1..$n]\" = \"$argv\"\nend\n"
      "complete -c harn -f\n";
  out += fish_words({});
  for (const auto prefix : prefixes()) out += fish_words(prefix);
  for (const auto& verb : verbs()) {
    each_option(verb, [&](const Option& option) { out += fish_option(verb, option); });
    if (verb.takes_command) out += fmt::format("complete -c harn -n '__harn_verb {}' -x -a '(__fish_complete_subcommand)'\n", verb.name);
    else if (verb.complete == Complete::file) out += fmt::format("complete -c harn -n '__harn_verb {}' -F\n", verb.name);
    else if (!verb.choices.empty()) out += fmt::format("complete -c harn -n '__harn_verb {}' -a '{}'\n", verb.name, spaced(verb.choices));
  }
  return out;
}

}  // namespace harn::cli

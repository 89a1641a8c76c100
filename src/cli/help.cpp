// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "cli/render.h"
#include "cli/verbs.h"

namespace harn::cli {
namespace {

constexpr std::size_t screen_width = 80;
constexpr std::size_t help_column = 28;

std::string left_side(const Option& option) {
  std::string text = option.letter != 0 ? fmt::format("  -{}, --{}", option.letter, option.name) : fmt::format("      --{}", option.name);
  if (!option.value.empty()) text += fmt::format(" {}", option.value);
  if (!option.attachable.empty()) text += fmt::format("[={}]", option.attachable);
  return text;
}

std::string right_side(const Option& option) {
  std::string text(option.help);
  if (!option.choices.empty()) text += fmt::format(": {}", fmt::join(base::split(option.choices, '|'), ", "));
  if (option.repeatable) text += " (repeatable)";
  return text;
}

void add_row(std::string& out, std::string_view left, std::string_view right) {
  std::string line(left);
  for (const auto& part : wrapped(right, screen_width - help_column)) {
    line.resize(std::max(line.size() + (line.size() >= help_column ? 1 : 0), help_column), ' ');
    (out += line + part) += '\n';
    line.clear();
  }
}

}  // namespace

namespace {

// Verbs of several words stand together in the overview; 'harn help FAMILY' lists them.
struct Family {
  std::string_view name = {};
  std::string_view summary = {};
};
constexpr Family families[] = {{"policy", "Check, show, compare, convert ('harn help policy')."},
                               {"audit", "Show and verify the log of runs ('harn help audit')."},
                               {"test", "Run what a tape holds again ('harn help test')."},
                               {"session", "Sandboxes that stay ('harn help session')."}};

const Family* family_of(std::string_view verb) {
  const auto found = std::ranges::find(families, verb.substr(0, verb.find(' ')), &Family::name);
  return found == std::end(families) ? nullptr : found;
}

}  // namespace

std::string overview(std::string_view prefix) {
  std::string out = prefix.empty() ? "harn runs commands inside a boundary the operating system enforces.\n\n" : "";
  out += fmt::format("Usage: harn {}VERB [OPTIONS] [ARGS...]\n\nVerbs:\n", prefix.empty() ? "" : std::string(prefix) + " ");
  const Family* last = nullptr;
  for (const auto& verb : verbs()) {
    if (!prefix.empty() && !verb.name.starts_with(std::string(prefix) + " ")) continue;
    const auto* family = prefix.empty() ? family_of(verb.name) : nullptr;
    if (family != nullptr && family == last) continue;
    last = family;
    std::string line = fmt::format("  {:<17} ", family == nullptr ? verb.name : family->name);
    for (const auto& part : wrapped(family == nullptr ? verb.summary : family->summary, screen_width - 20)) {
      line.resize(20, ' ');
      (out += line + part) += '\n';
      line.clear();
    }
  }
  return out + "\n'harn help VERB' explains one verb.\n";
}

std::string help_of(const Verb& verb) {
  std::string out = fmt::format("Usage: harn {}{}{}{}\n", verb.name, verb.groups.empty() ? "" : " [OPTIONS]",
                                verb.operands.empty() ? "" : " ", verb.operands);
  for (const auto& line : wrapped(verb.summary, screen_width)) (out += line) += '\n';
  for (const auto& group : verb.groups) {
    out += fmt::format("{}:\n", group.title);
    for (const auto& option : group.options) add_row(out, left_side(option), right_side(option));
  }
  add_row(out, left_side(help_option()), help_option().help);
  return out;
}

}  // namespace harn::cli

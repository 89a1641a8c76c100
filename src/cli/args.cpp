// SPDX-License-Identifier: Apache-2.0
#include "cli/args.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace harn::cli {
namespace {

constexpr Option help{.name = "help", .help = "show this help", .letter = 'h'};

const Option* find_option(const Verb& verb, std::string_view name) {
  for (const auto& group : verb.groups)
    for (const auto& option : group.options)
      if (option.name == name) return &option;
  return name == help.name ? &help : nullptr;
}

const Option* find_letter(const Verb& verb, char letter) {
  for (const auto& group : verb.groups)
    for (const auto& option : group.options)
      if (option.letter == letter) return &option;
  return letter == help.letter ? &help : nullptr;
}

std::unexpected<Error> unknown_option(const Verb& verb, std::string_view word) {
  std::vector<std::string_view> names;
  for (const auto& group : verb.groups)
    for (const auto& option : group.options) names.push_back(option.name);
  const auto near = base::nearest_name(word.substr(std::min(word.find_first_not_of('-'), word.size())), names);
  return wrong_usage(fmt::format("unknown option {} for 'harn {}'", base::quoted(word), verb.name),
                     near.empty() ? fmt::format("see 'harn help {}'", verb.name) : fmt::format("did you mean '--{}'?", near));
}

Status check_choice(const Option& option, std::string_view value) {
  if (option.choices.empty()) return {};
  const auto choices = base::split(option.choices, '|');
  if (std::ranges::find(choices, value) != choices.end()) return {};
  const auto near = base::nearest_name(value, choices);
  return wrong_usage(fmt::format("{} is not a value of '--{}'", base::quoted(value), option.name),
                     near.empty() ? fmt::format("use one of {}", fmt::join(choices, ", ")) : fmt::format("did you mean '{}'?", near));
}

}  // namespace

class ArgumentParser {
 public:
  ArgumentParser(const Verb& verb, std::span<const std::string> words) : verb_(verb), words_(words) {}

  Result<Arguments> parse() {
    bool options_over = false;
    for (; at_ < words_.size(); ++at_) {
      const std::string_view word = words_[at_];
      if (options_over || word == "-" || !word.starts_with('-')) {
        arguments_.operands_.emplace_back(word);
        options_over = options_over || verb_.takes_command;
      } else if (word == "--") {
        options_over = true;
      } else {
        HARN_OK(take_option(word));
        if (arguments_.has(help.name)) return std::move(arguments_);
      }
    }
    HARN_OK(check_operands());
    return std::move(arguments_);
  }

 private:
  Status take_option(std::string_view word) {
    const bool is_long = word.starts_with("--");
    const auto equals = is_long ? word.find('=') : std::string_view::npos;
    const auto name = word.substr(0, equals);
    const auto* option = is_long ? find_option(verb_, name.substr(2)) : word.size() == 2 ? find_letter(verb_, word[1]) : nullptr;
    if (option == nullptr) return unknown_option(verb_, name);
    std::optional<std::string> attached;
    if (equals != std::string_view::npos) attached = word.substr(equals + 1);
    return option->value.empty() ? take_switch(*option, attached) : take_value(*option, attached);
  }

  Status take_switch(const Option& option, const std::optional<std::string>& attached) {
    if (attached && !option.attachable.empty()) {
      if (attached->empty())
        return wrong_usage(fmt::format("'--{}=' names nothing", option.name), fmt::format("write --{}={}", option.name, option.attachable));
      return keep_value(option, *attached);
    }
    if (attached)
      return wrong_usage(fmt::format("option '--{}' takes no value", option.name), fmt::format("write '--{}' alone", option.name));
    arguments_.values_.try_emplace(std::string(option.name));
    return {};
  }

  Status take_value(const Option& option, std::optional<std::string> attached) {
    if (!attached) {
      // A forgotten value must not swallow the next option.
      if (at_ + 1 >= words_.size() || words_[at_ + 1].starts_with("--"))
        return wrong_usage(fmt::format("option '--{}' needs a value", option.name),
                           fmt::format("write --{}={}", option.name, option.value));
      attached = words_[++at_];
    }
    HARN_OK(check_choice(option, *attached));
    return keep_value(option, std::move(*attached));
  }

  Status keep_value(const Option& option, std::string value) {
    auto& values = arguments_.values_[std::string(option.name)];
    if (!values.empty() && !option.repeatable)
      return wrong_usage(fmt::format("option '--{}' was given twice", option.name), "give it once");
    values.push_back(std::move(value));
    return {};
  }

  Status check_operands() const {
    const auto count = arguments_.operands_.size();
    if (count < verb_.min_operands)
      return wrong_usage(fmt::format("'harn {}' needs {}", verb_.name, verb_.operands), fmt::format("see 'harn help {}'", verb_.name));
    if (count > verb_.max_operands && !verb_.takes_command)
      return wrong_usage(
          fmt::format("{} is one argument too many for 'harn {}'", base::quoted(arguments_.operands_[verb_.max_operands]), verb_.name),
          fmt::format("see 'harn help {}'", verb_.name));
    return {};
  }

  const Verb& verb_;
  std::span<const std::string> words_;
  std::size_t at_ = 0;
  Arguments arguments_ = {};
};

const std::string* Arguments::value(std::string_view option) const {
  const auto found = values_.find(option);
  return found == values_.end() || found->second.empty() ? nullptr : &found->second.front();
}

const std::vector<std::string>& Arguments::all(std::string_view option) const {
  static const std::vector<std::string> none;
  const auto found = values_.find(option);
  return found == values_.end() ? none : found->second;
}

Result<Arguments> parse_arguments(const Verb& verb, std::span<const std::string> words) { return ArgumentParser(verb, words).parse(); }

std::unexpected<Error> wrong_usage(std::string message, std::string hint) {
  return fail(Error{.code = ErrorCode::invalid_command, .stage = Stage::cli, .message = std::move(message), .hint = std::move(hint)});
}

const Option& help_option() { return help; }

}  // namespace harn::cli

// SPDX-License-Identifier: Apache-2.0
#include "run/windows/environment_block.h"

#include <fmt/format.h>

#include "base/env_names.h"
#include "base/text.h"
#include "base/utf16.h"

namespace harn::run::windows {
namespace {

constexpr std::string_view folder_word = "@container:folder";

std::unexpected<Error> wrong(std::string message, std::string hint) {
  return fail(Error{.code = ErrorCode::invalid_command, .stage = Stage::prepare, .message = std::move(message), .hint = std::move(hint)});
}

// As Windows compares names; letters outside ASCII keep their place, which no lookup depends on.
std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

}  // namespace

Variables with_container_folder(Variables variables, const Variables& changes, std::string_view folder) {
  for (const auto& [name, value] : changes) {
    std::erase_if(variables, [&](const auto& entry) { return base::same_ignoring_case(entry.first, name); });
    auto text = value;
    if (text.starts_with(folder_word)) text.replace(0, folder_word.size(), folder);
    variables[name] = std::move(text);
  }
  return variables;
}

std::string_view variable(const Variables& variables, std::string_view name) {
  const auto* found = base::find_ignoring_case(variables, name);
  return found == nullptr ? std::string_view() : std::string_view(*found);
}

Result<std::u16string> environment_block(const Variables& variables) {
  std::map<std::string, std::string> sorted;
  for (const auto& [name, value] : variables) {
    if (name.empty() || name.find('=', 1) != std::string::npos || (name + value).find('\0') != std::string::npos)
      return wrong("the variable " + base::quoted(name) + " cannot be passed: its name holds '=' or nothing, or there is a NUL byte",
                   "remove it with --env-strip");
    if (!sorted.emplace(upper(name), fmt::format("{}={}", name, value)).second)
      return wrong("the environment has " + base::quoted(name) + " twice, in different letter case", "remove one of them");
  }
  std::u16string block;
  for (const auto& [key, entry] : sorted) {
    HARN_TRY(wide, base::to_utf16(entry));
    block += wide;
    block += u'\0';
  }
  if (block.empty()) block += u'\0';
  block += u'\0';
  return block;
}

}  // namespace harn::run::windows

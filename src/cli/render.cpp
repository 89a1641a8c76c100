// SPDX-License-Identifier: Apache-2.0
#include "cli/render.h"

#include <cerrno>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/args.h"
#include "embed/error_json.h"
#include "plan/coverage.h"
#include "plan/names.h"

namespace harn::cli {

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  for (const auto word : base::split(text, ' ')) {
    if (word.empty()) continue;
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

std::string coloured(std::string_view text, Colour colour, bool wanted) {
  static constexpr std::string_view codes[] = {"32", "33", "31", "1"};
  if (!wanted) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", codes[static_cast<std::size_t>(colour)], text);
}

std::string error_text(const Error& error) {
  std::string out = "harn: ";
  if (!error.where.empty()) out += error.where + ": ";
  out += error.message + "\n";
  if (!error.hint.empty()) out += "  hint: " + error.hint + "\n";
  return out;
}

base::Value error_value(const Error& error) { return embed::error_value(error); }

std::vector<std::string_view> names_with(const Coverage& coverage, Enforcement status) {
  std::vector<std::string_view> names;
  for (const auto dimension : plan::dimensions_with(coverage, status)) names.push_back(base::enum_name(dimension));
  return names;
}

std::string narrowing_text(const NarrowingItem& item) {
  if (item.value == "without " + item.became) return fmt::format("{} gains {}", item.member, item.became);
  if (item.became.empty()) return fmt::format("{} loses {}", item.member, item.value);
  // What is left of a path is named with its list; a value is simply another one.
  const bool remainder = item.became.find(' ') != std::string::npos;
  return remainder ? fmt::format("{} keeps of {} only {}", item.member, item.value, item.became)
                   : fmt::format("{} {} becomes {}", item.member, item.value, item.became);
}

std::string error_json(const Error& error) {
  base::Value out;
  out.set("error", error_value(error));
  return base::print_json(out, 2) + "\n";
}

int exit_code_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::not_supported:
    case ErrorCode::not_available:
    case ErrorCode::refused:
    case ErrorCode::os:
    case ErrorCode::internal: return exit_refused;
    case ErrorCode::invalid_policy:
    case ErrorCode::invalid_command:
    case ErrorCode::io:
    case ErrorCode::protocol: break;
  }
  return exit_usage;
}

int exit_code_instead_of_command(const Error& error) {
  if (error.code != ErrorCode::invalid_command || error.stage != Stage::spawn) return exit_refused;
  return error.os_error == ENOENT ? exit_not_found : exit_not_executable;
}

}  // namespace harn::cli

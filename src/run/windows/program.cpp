// SPDX-License-Identifier: Apache-2.0
#include "run/windows/program.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"

namespace harn::run::windows {
namespace {

// What can be started; PATHEXT also lists scripts that only the shell opens.
constexpr std::array<std::string_view, 4> kinds{".com", ".exe", ".bat", ".cmd"};

bool has_kind(std::string_view name) {
  const auto lower = base::lower_ascii(name);
  return std::ranges::any_of(kinds, [&](std::string_view kind) { return lower.ends_with(kind); });
}

std::optional<AbsPath> with_kind(const AbsPath& path, const IsFile& is_file) {
  if (has_kind(path.name())) return is_file(path) ? std::optional(path) : std::nullopt;
  for (const auto kind : kinds) {
    auto whole = AbsPath::parse(path.text() + std::string(kind));
    if (whole && is_file(*whole)) return std::move(*whole);
  }
  return std::nullopt;
}

std::unexpected<Error> not_found(std::string_view word, std::string_view where) {
  return fail(Error{.code = ErrorCode::invalid_command,
                    .stage = Stage::spawn,
                    .os_error = 2,  // ERROR_FILE_NOT_FOUND
                    .message = fmt::format("there is no program {} {}", base::quoted(word), where),
                    .hint = "check the spelling; programs end in .exe, .com, .bat or .cmd"});
}

}  // namespace

Result<AbsPath> find_program(std::string_view word, const AbsPath& cwd, const Variables& variables, const IsFile& is_file) {
  std::string flat(word);
  std::ranges::replace(flat, '\\', '/');
  if (flat.starts_with("//"))
    return fail(Error{.code = ErrorCode::not_supported,
                      .stage = Stage::spawn,
                      .message = fmt::format("{} lies on another machine or is a device", base::quoted(word)),
                      .hint = "name a program on a drive of this one"});
  // "C:tool" is relative to wherever drive C was left by some program.
  const bool drive = flat.size() >= 2 && flat[1] == ':';
  if (drive && !looks_absolute(flat)) return not_found(word, "(a drive needs a path from its root)");
  if (flat.find('/') != std::string::npos) {
    HARN_TRY(path, AbsPath::parse(drive ? flat : flat.starts_with('/') ? cwd.text().substr(0, 2) + flat : cwd.text() + "/" + flat));
    if (auto found = with_kind(path, is_file)) return std::move(*found);
    return not_found(word, "there");
  }
  for (const auto entry : base::split(variable(variables, "PATH"), ';')) {
    auto text = base::trim(entry);
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
    const auto directory = looks_absolute(text) && !text.starts_with('/') ? AbsPath::parse(text) : AbsPath::parse("");
    if (!directory) continue;
    if (auto found = with_kind(directory->join(flat), is_file)) return std::move(*found);
  }
  return not_found(word, "in PATH");
}

std::string native_path(const AbsPath& path) {
  auto text = path.text();
  std::ranges::replace(text, '/', '\\');
  return text;
}

}  // namespace harn::run::windows

// SPDX-License-Identifier: Apache-2.0
#include "host/user_files.h"

#include <cerrno>

#include <fmt/format.h>

#include "base/text.h"
#include "sys/files.h"

namespace harn::host {

Result<std::string> read_user_file(const AbsPath& path, std::size_t max_bytes) { return sys::read_file(path, max_bytes); }

Result<std::optional<std::string>> read_user_file_if_present(const AbsPath& path, std::size_t max_bytes) {
  auto text = sys::read_file(path, max_bytes);
  if (text) return std::optional<std::string>(std::move(*text));
  if (text.error().os_error == ENOENT || text.error().os_error == ENOTDIR) return std::optional<std::string>();
  return fail(std::move(text).error());
}

Status keep_user_file(const AbsPath& path, std::string_view text) { return sys::replace_file(path, text); }

Result<HeldPlace> HeldPlace::open(const AbsPath& path) {
  // A mistyped directory is not made, and nothing but a file is replaced: not a link, a pipe, a device.
  const auto refuse = [](std::string message, std::string hint) {
    return fail(Error{.code = ErrorCode::refused, .stage = Stage::prepare, .message = std::move(message), .hint = std::move(hint)});
  };
  if (sys::target_type_of(path.parent()) != sys::FileType::directory)
    return refuse(fmt::format("there is no directory {} to keep a file in", base::quoted(path.parent().text())), "create it first");
  const auto there = sys::type_of(path);
  if (there != sys::FileType::missing && there != sys::FileType::file)
    return refuse(fmt::format("{} is no regular file and would be replaced by one", base::quoted(path.text())), "name a file");
  HARN_OK(sys::try_replace_file(path));
  HeldPlace place;
  place.name_ = std::string(path.name());
  HARN_TRY(directory, sys::hold_directory(path.parent()));
  place.directory_ = std::move(directory);
  return place;
}

Status HeldPlace::keep(std::string_view text) const { return sys::replace_file(directory_.get(), name_, text); }

}  // namespace harn::host

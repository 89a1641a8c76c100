// SPDX-License-Identifier: Apache-2.0
#include "host/user_files.h"

#include <cerrno>

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

}  // namespace harn::host
